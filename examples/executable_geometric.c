/* The two-sided geometric mechanism as an executable, in C99 with nothing but libc and libm.
 *
 *     gcc -std=c99 -O2 -Wall -Wextra -o geometric examples/executable_geometric.c -lm
 *     dpverdict sample 'exec:./geometric 1.0' --input 0 --runs 1e7
 *
 * The first argument is epsilon.  Replies are binary frames; with a second argument `json` they are JSON, which is
 * shorter to write and slower to read.  The protocol is in docs/executables.md.
 *
 * It samples as textbooks do, by logarithms of floating-point uniforms: fine to show a protocol with, not to protect
 * anybody's data with.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, CHUNK = 1 << 14 };

/* --- random numbers: xoshiro256++ by Blackman and Vigna, started by splitmix64 --------------------------------- */

static uint64_t state[4];

static void start_from(uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        state[i] = z ^ (z >> 31);
    }
}

static uint64_t rotated(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

static uint64_t next(void)
{
    const uint64_t result = rotated(state[0] + state[3], 23) + state[0], t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotated(state[3], 45);
    return result;
}

/* Above 0 and at most 1, so that its logarithm is finite. */
static double uniform(void) { return (double)((next() >> 11) + 1) * 0x1p-53; }

/* The difference of two geometric numbers: Pr[i] is proportional to exp(-epsilon |i|). */
static int64_t noise(double epsilon)
{
    const double first = floor(-log(uniform()) / epsilon), second = floor(-log(uniform()) / epsilon);
    return (int64_t)(first - second);
}

/* --- the protocol ---------------------------------------------------------------------------------------------- */

/* What stands behind a key, or NULL.  Enough of a JSON reader here: the hello announces that inputs are numbers, so
 * no text of an input can look like a key. */
static const char *value_of(const char *line, const char *key)
{
    const char *found = strstr(line, key);
    return found ? found + strlen(key) + strspn(found + strlen(key), ": ") : NULL;
}

static int whole(const char *text, int64_t *number)
{
    char *end;
    if (!text) return 0;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && !errno && (*end == ',' || *end == '}' || *end == ' ');
}

static void refuse(int64_t id, const char *message)
{
    printf("{\"id\":%" PRId64 ",\"error\":\"ValueError\",\"message\":\"%s\"}\n", id, message);
}

static int as_json; /* or binary frames */

/* One line of a reply, with its frame.  Frames are as narrow as the numbers allow: a pipe costs by the byte. */
static void send(int64_t id, const int64_t *outcomes, int64_t count, int narrow, const char *more)
{
    static int16_t small[CHUNK];
    printf("{\"id\":%" PRId64 ",\"more\":%s,", id, more);
    if (as_json) {
        printf("\"outcomes\":[%" PRId64, outcomes[0]);
        for (int64_t i = 1; i < count; i++) printf(",%" PRId64, outcomes[i]);
        printf("]}\n");
        return;
    }
    printf("\"frame\":\"%s\",\"runs\":%" PRId64 "}\n", narrow ? "int16" : "int64", count);
    if (narrow) {
        for (int64_t i = 0; i < count; i++) small[i] = (int16_t)outcomes[i];
        fwrite(small, sizeof small[0], (size_t)count, stdout);
    } else
        fwrite(outcomes, sizeof outcomes[0], (size_t)count, stdout);
}

/* Large batches go out in chunks: every line but the last says that more come. */
static void answer(int64_t id, int64_t runs, int64_t centre, double epsilon)
{
    static int64_t outcomes[CHUNK];
    while (runs > 0) {
        const int64_t count = runs < CHUNK ? runs : CHUNK;
        int narrow = 1;
        for (int64_t i = 0; i < count; i++) {
            outcomes[i] = centre + noise(epsilon);
            narrow &= outcomes[i] >= INT16_MIN && outcomes[i] <= INT16_MAX;
        }
        runs -= count;
        send(id, outcomes, count, narrow, runs > 0 ? "true" : "false");
    }
}

int main(int count, char **words)
{
    static char line[LINE], buffer[1 << 18];
    const uint16_t one = 1;
    const int little_endian = *(const unsigned char *)&one == 1; /* as frames are; other machines answer in JSON */
    as_json = !little_endian || (count > 2 && strcmp(words[2], "json") == 0);
    const double epsilon = count > 1 ? atof(words[1]) : 1.0;
    if (!(epsilon > 0)) {
        fprintf(stderr, "usage: geometric EPSILON [json], with EPSILON above 0\n");
        return 2;
    }
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer); /* few large writes: each one wakes the reader */
    if (!fgets(line, LINE, stdin)) return 0; /* dpverdict's hello */
    printf("{\"hello\":\"geometric\",\"version\":1,\"seed\":true,\"frames\":%s,\"inputs\":[\"number\"]}\n",
           as_json ? "false" : "true");
    fflush(stdout);
    while (fgets(line, LINE, stdin)) {
        int64_t id = 0, runs = 0, centre = 0;
        const char *seed = value_of(line, "\"seed\"");
        if (!whole(value_of(line, "\"id\""), &id) || !whole(value_of(line, "\"runs\""), &runs) || !seed)
            refuse(id, "a request needs id, runs and seed");
        else if (!whole(value_of(line, "\"input\""), &centre))
            refuse(id, "the input must be a whole number of 64 bits");
        else {
            start_from(strtoull(seed, NULL, 10)); /* nothing else is kept from one request to the next */
            answer(id, runs, centre, epsilon);
        }
        fflush(stdout);
    }
    return 0;
}
