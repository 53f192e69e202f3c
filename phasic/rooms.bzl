"""The rooms of phasic, lowest first, and what each imports.

Written by `make format`; do not edit.
"""

PACKAGES = [
    "math",
    "graphs",
    "distributions",
    "inference",
    "multistate"
]

WINGS = [
    "covariates",
    "regression",
    "multistate"
]

ROOMS = {
    "internal": [],
    "config": [
        "internal"
    ],
    "saving": [
        "internal"
    ],
    "math/numeric": [
        "internal"
    ],
    "math/model": [
        "internal",
        "saving",
        "math/numeric"
    ],
    "math/m_step": [
        "internal",
        "math/model"
    ],
    "math/portable": [
        "internal",
        "math/numeric",
        "math/model"
    ],
    "math/calls": [
        "internal",
        "math/numeric",
        "math/model",
        "math/portable"
    ],
    "math/elimination": [
        "internal",
        "math/numeric",
        "math/model",
        "math/portable",
        "math/calls"
    ],
    "math/moments": [
        "internal",
        "math/numeric",
        "math/model",
        "math/calls",
        "math/elimination"
    ],
    "math/quantiles": [
        "internal",
        "math/numeric",
        "math/model",
        "math/portable",
        "math/calls",
        "math/elimination"
    ],
    "math/sampling": [
        "internal",
        "math/numeric",
        "math/model",
        "math/portable",
        "math/calls",
        "math/elimination",
        "math/quantiles"
    ],
    "math/likelihood": [
        "internal",
        "math/numeric",
        "math/model",
        "math/portable",
        "math/calls",
        "math/elimination",
        "math/moments"
    ],
    "math/rewards": [
        "internal",
        "math/numeric",
        "math/model",
        "math/portable",
        "math/elimination",
        "math/likelihood"
    ],
    "math/quadrature": [
        "internal",
        "math/numeric",
        "math/model",
        "math/calls",
        "math/elimination",
        "math/moments"
    ],
    "math/steady_state": [
        "internal",
        "math/numeric",
        "math/model",
        "math/elimination"
    ],
    "math/closures": [
        "internal",
        "math/numeric",
        "math/model",
        "math/elimination"
    ],
    "graphs/parts": [
        "internal"
    ],
    "graphs/construction": [
        "internal",
        "graphs/parts"
    ],
    "graphs/formats": [
        "internal",
        "saving",
        "graphs/parts",
        "graphs/construction"
    ],
    "graphs/core": [
        "internal",
        "saving",
        "math/model",
        "math/calls",
        "math/moments",
        "graphs/parts",
        "graphs/construction",
        "graphs/formats"
    ],
    "graphs/models": [
        "internal",
        "math/numeric",
        "math/model",
        "graphs/parts",
        "graphs/construction",
        "graphs/core"
    ],
    "graphs/transformations": [
        "internal",
        "math/model",
        "math/moments",
        "graphs/parts",
        "graphs/construction",
        "graphs/core"
    ],
    "graphs/steady_state": [
        "internal",
        "math/steady_state",
        "graphs/parts",
        "graphs/construction",
        "graphs/core"
    ],
    "binding": [
        "internal",
        "math/model"
    ],
    "distributions/base": [
        "internal",
        "saving",
        "math/numeric",
        "math/model",
        "math/m_step",
        "math/elimination",
        "math/quadrature"
    ],
    "distributions/absorption": [
        "internal",
        "math/model",
        "math/m_step",
        "math/calls",
        "math/elimination",
        "math/moments",
        "math/quantiles",
        "math/sampling",
        "math/likelihood",
        "math/quadrature",
        "graphs/parts",
        "graphs/core",
        "distributions/base"
    ],
    "distributions/families": [
        "internal",
        "math/numeric",
        "math/model",
        "math/m_step",
        "math/quadrature",
        "distributions/base",
        "distributions/absorption"
    ],
    "distributions/wrapped": [
        "internal",
        "math/numeric",
        "math/model",
        "math/m_step",
        "math/elimination",
        "math/moments",
        "math/sampling",
        "math/likelihood",
        "math/quadrature",
        "distributions/base",
        "distributions/absorption",
        "distributions/families"
    ],
    "distributions/closures": [
        "internal",
        "math/model",
        "math/closures",
        "distributions/base",
        "distributions/absorption",
        "distributions/families",
        "distributions/wrapped"
    ],
    "distributions/rewards": [
        "internal",
        "math/model",
        "math/elimination",
        "math/moments",
        "math/sampling",
        "math/rewards",
        "math/quadrature",
        "graphs/core",
        "distributions/base",
        "distributions/absorption"
    ],
    "distributions/epochs": [
        "internal",
        "math/numeric",
        "math/model",
        "math/m_step",
        "math/calls",
        "math/elimination",
        "math/moments",
        "math/quantiles",
        "math/sampling",
        "math/likelihood",
        "math/rewards",
        "math/quadrature",
        "graphs/parts",
        "graphs/core",
        "distributions/base",
        "distributions/absorption",
        "distributions/rewards"
    ],
    "inference/parameters": [
        "internal",
        "distributions/base"
    ],
    "inference/data": [
        "internal",
        "saving",
        "math/numeric",
        "math/model",
        "math/calls",
        "math/likelihood",
        "distributions/base",
        "distributions/absorption",
        "inference/parameters"
    ],
    "inference/results": [
        "internal",
        "saving",
        "math/model",
        "distributions/base",
        "inference/parameters",
        "inference/data"
    ],
    "inference/em": [
        "internal",
        "math/numeric",
        "math/model",
        "math/m_step",
        "math/calls",
        "math/likelihood",
        "distributions/base",
        "distributions/absorption",
        "inference/data"
    ],
    "inference/starts": [
        "internal",
        "distributions/base",
        "distributions/absorption",
        "distributions/families",
        "distributions/wrapped",
        "inference/parameters",
        "inference/data",
        "inference/em"
    ],
    "inference/mle": [
        "internal",
        "distributions/base",
        "inference/parameters",
        "inference/data",
        "inference/results",
        "inference/em",
        "inference/starts"
    ],
    "inference/selection": [
        "internal",
        "distributions/base",
        "distributions/families",
        "inference/parameters",
        "inference/data",
        "inference/results",
        "inference/mle"
    ],
    "inference/resampling": [
        "internal",
        "distributions/base",
        "inference/parameters",
        "inference/data",
        "inference/results",
        "inference/mle"
    ],
    "inference/plots": [
        "internal",
        "distributions/base",
        "inference/parameters",
        "inference/data",
        "inference/results"
    ],
    "inference/datasets": [
        "internal"
    ],
    "interop": [
        "internal",
        "math/numeric",
        "math/model",
        "math/elimination",
        "math/quadrature",
        "graphs/core",
        "distributions/base",
        "distributions/absorption",
        "inference/data",
        "inference/mle"
    ],
    "covariates": [
        "internal"
    ],
    "regression": [
        "internal",
        "distributions/base",
        "inference/data",
        "inference/results",
        "inference/mle",
        "inference/plots",
        "covariates"
    ],
    "multistate/data": [
        "internal",
        "covariates"
    ],
    "multistate/states": [
        "internal",
        "graphs/core",
        "distributions/base",
        "distributions/absorption",
        "distributions/families",
        "inference/starts",
        "multistate/data"
    ],
    "multistate/likelihood": [
        "internal",
        "math/model",
        "math/calls",
        "math/moments",
        "math/likelihood",
        "graphs/core",
        "distributions/base",
        "inference/data",
        "multistate/data",
        "multistate/states"
    ],
    "multistate/answers": [
        "internal",
        "math/model",
        "math/moments",
        "graphs/parts",
        "graphs/core",
        "inference/results",
        "multistate/data",
        "multistate/states",
        "multistate/likelihood"
    ]
}
