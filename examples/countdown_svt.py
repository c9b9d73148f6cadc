"""A sparse vector technique with a planted bug that tests of its answers would never show.

It says which queries lie above a threshold, and stops after `stop_after` hits.  It is as private as it claims when
every comparison has noise of scale 4 * stop_after / epsilon.  Here the scale is computed inside the loop, from the
counter that is counted down: after the first hit the noise shrinks, and the last comparison gives away more than
its share.  At stop_after = 2 the exact loss is up to 5/4 of the claim.

    dpverdict explain examples/countdown_svt.py:countdown_svt --input 0,1,0
    dpverdict sample examples/countdown_svt.py:countdown_svt --input 0,1,0 --runs 1e6
    dpverdict prove examples/countdown_svt.py:countdown_svt --domain -1,0,1 --length 5
"""

from __future__ import annotations

from dpverdict import mechanism


@mechanism
def countdown_svt(noise, queries, epsilon, threshold=0, stop_after=2):
    """Which queries are above the threshold, until `stop_after` are."""
    limit = noise.laplace(threshold, scale=2 / epsilon)
    remaining, answers = stop_after, []
    for query in queries:
        above = noise.laplace(query, scale=4 * remaining / epsilon) >= limit  # the bug: it must be stop_after
        answers.append(above)
        if above:
            remaining -= 1
            if remaining == 0:
                break
    return answers
