"""The publications that the catalogue cites; each key is an entry of docs/references.bib."""

from __future__ import annotations

from dpverdict.catalog.entry import Paper

BALLE_WANG = Paper(
    "balle2018improving", "Balle, Wang: Improving the Gaussian Mechanism for Differential Privacy, ICML 2018"
)
BICHSEL_FINDER = Paper(
    "bichsel2018dpfinder",
    "Bichsel, Gehr, Drachsler-Cohen, Tsankov, Vechev: DP-Finder: Finding Differential Privacy Violations "
    "by Sampling and Optimization, CCS 2018",
)
BICHSEL_SNIPER = Paper(
    "bichsel2021dpsniper",
    "Bichsel, Steffen, Bogunovic, Vechev: DP-Sniper: Black-Box Discovery of Differential Privacy "
    "Violations using Classifiers, IEEE S&P 2021",
)
CANONNE_KAMATH_STEINKE = Paper(
    "canonne2020discrete", "Canonne, Kamath, Steinke: The Discrete Gaussian for Differential Privacy, NeurIPS 2020"
)
CHEN_ET_AL = Paper(
    "chen2015differentially",
    "Chen, Xiao, Zhang, Xu: Differentially Private High-Dimensional Data Publication via Sampling-Based "
    "Inference, KDD 2015",
)
DING_ET_AL = Paper(
    "ding2018detecting", "Ding, Wang, Wang, Zhang, Kifer: Detecting Violations of Differential Privacy, CCS 2018"
)
DING_FREE_GAP = Paper(
    "ding2019free",
    "Ding, Wang, Zhang, Kifer: Free Gap Information from the Differentially Private Sparse Vector and "
    "Noisy Max Mechanisms, PVLDB 13(3), 2019",
)
DING_PERMUTE = Paper(
    "ding2021permute",
    "Ding, Kifer, Saghaian, Steinke, Wang, Xiao, Zhang: The Permute-and-Flip Mechanism is Identical to "
    "Report-Noisy-Max with Exponential Noise, arXiv 2021",
)
DURFEE_ROGERS = Paper(
    "durfee2019practical",
    "Durfee, Rogers: Practical Differentially Private Top-k Selection with Pay-what-you-get Composition, NeurIPS 2019",
)
DWORK_MCSHERRY_NISSIM_SMITH = Paper(
    "dwork2006calibrating",
    "Dwork, McSherry, Nissim, Smith: Calibrating Noise to Sensitivity in Private Data Analysis, TCC 2006",
)
DWORK_ROTH = Paper(
    "dwork2014algorithmic", "Dwork, Roth: The Algorithmic Foundations of Differential Privacy, FnT TCS 9(3-4), 2014"
)
ERLINGSSON_PIHUR_KOROLOVA = Paper(
    "erlingsson2014rappor",
    "Erlingsson, Pihur, Korolova: RAPPOR: Randomized Aggregatable Privacy-Preserving Ordinal Response, CCS 2014",
)
GENG_ET_AL = Paper(
    "geng2019optimal",
    "Geng, Ding, Guo, Kumar: Optimal Noise-Adding Mechanism in Additive Differential Privacy, AISTATS 2019",
)
GENG_VISWANATH = Paper(
    "geng2014optimal",
    "Geng, Viswanath: The Optimal Mechanism in Differential Privacy, ISIT 2014",
)
GHOSH_ROUGHGARDEN_SUNDARARAJAN = Paper(
    "ghosh2009universally",
    "Ghosh, Roughgarden, Sundararajan: Universally Utility-Maximizing Privacy Mechanisms, STOC 2009",
)
KAIROUZ_OH_VISWANATH = Paper(
    "kairouz2014extremal",
    "Kairouz, Oh, Viswanath: Extremal Mechanisms for Local Differential Privacy, NIPS 2014",
)
LEE_CLIFTON = Paper(
    "lee2014topk",
    "Lee, Clifton: Top-k Frequent Itemsets via Differentially Private FP-trees, KDD 2014",
)
LYU_SU_LI = Paper(
    "lyu2017understanding",
    "Lyu, Su, Li: Understanding the Sparse Vector Technique for Differential Privacy, PVLDB 10(6), 2017",
)
MCKENNA_SHELDON = Paper(
    "mckenna2020permute",
    "McKenna, Sheldon: Permute-and-Flip: A New Mechanism for Differentially Private Selection, NeurIPS 2020",
)
MCSHERRY_TALWAR = Paper(
    "mcsherry2007mechanism", "McSherry, Talwar: Mechanism Design via Differential Privacy, FOCS 2007"
)
MIRONOV = Paper(
    "mironov2012significance",
    "Mironov: On Significance of the Least Significant Bits for Differential Privacy, CCS 2012",
)
RAVI = Paper(
    "ravi2019automated",
    "Ravi: Automated Methods for Checking Differential Privacy, University of Illinois 2019",
)
ROTH = Paper(
    "roth2011sparse",
    "Roth: The Sparse Vector Technique, lecture notes, University of Pennsylvania 2011",
)
STODDARD_CHEN_MACHANAVAJJHALA = Paper(
    "stoddard2014differentially",
    "Stoddard, Chen, Machanavajjhala: Differentially Private Algorithms for Empirical Machine Learning, arXiv 2014",
)
WANG_ET_AL = Paper(
    "wang2019proving", "Wang, Ding, Wang, Kifer, Zhang: Proving Differential Privacy with Shadow Execution, PLDI 2019"
)
WANG_LOCAL = Paper(
    "wang2017locally",
    "Wang, Blocki, Li, Jha: Locally Differentially Private Protocols for Frequency Estimation, USENIX Security 2017",
)
WARNER = Paper(
    "warner1965randomized",
    "Warner: Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias, JASA 60(309), 1965",
)
