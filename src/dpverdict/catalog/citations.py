"""The publications that the catalogue cites; each key is an entry of docs/references.bib."""

from __future__ import annotations

from dpverdict.catalog.entry import Paper

BALLE_WANG = Paper(
    "balle2018improving", "Balle, Wang: Improving the Gaussian Mechanism for Differential Privacy, ICML 2018"
)
CANONNE_KAMATH_STEINKE = Paper(
    "canonne2020discrete", "Canonne, Kamath, Steinke: The Discrete Gaussian for Differential Privacy, NeurIPS 2020"
)
DING_ET_AL = Paper(
    "ding2018detecting", "Ding, Wang, Wang, Zhang, Kifer: Detecting Violations of Differential Privacy, CCS 2018"
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
GHOSH_ROUGHGARDEN_SUNDARARAJAN = Paper(
    "ghosh2009universally",
    "Ghosh, Roughgarden, Sundararajan: Universally Utility-Maximizing Privacy Mechanisms, STOC 2009",
)
LYU_SU_LI = Paper(
    "lyu2017understanding",
    "Lyu, Su, Li: Understanding the Sparse Vector Technique for Differential Privacy, PVLDB 10(6), 2017",
)
MCSHERRY_TALWAR = Paper(
    "mcsherry2007mechanism", "McSherry, Talwar: Mechanism Design via Differential Privacy, FOCS 2007"
)
WANG_ET_AL = Paper(
    "wang2019proving", "Wang, Ding, Wang, Kifer, Zhang: Proving Differential Privacy with Shadow Execution, PLDI 2019"
)
WARNER = Paper(
    "warner1965randomized",
    "Warner: Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias, JASA 60(309), 1965",
)
