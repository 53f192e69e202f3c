# Prints figures of multi-state models by R's msm: lines of "log_likelihood", the
# name of one of settings.py, which has the same parameters, and its value; and
# lines of "values", a name, the number of columns and the numbers of a matrix by
# its rows. Covariates are not centered.
#
#   Rscript msm_fits.R FOLDER    where FOLDER has the tables as CSV files

suppressMessages(library(msm))
options(digits = 17, warn = 1)
folder <- commandArgs(trailingOnly = TRUE)[1]
read <- function(name) read.csv(file.path(folder, paste0(name, ".csv")))
clinic <- read("clinic")
monitored <- read("monitored")

numbers <- function(x) paste(sprintf("%.17g", x), collapse = " ")
show <- function(name, x) {
  x <- if (is.null(dim(x))) matrix(x, 1) else as.matrix(x)
  cat("values", name, ncol(x), numbers(t(x)), "\n")
}

start <- rbind(c(0, 0.3, 0, 0.04), c(0.15, 0, 0.2, 0.06), c(0, 0, 0, 0.25),
               rep(0, 4))
effects <- c(-0.4, -0.1, 0.2, -0.3, 0.15, -0.25)
dose <- c(0.1, -0.2, 0.05, 0.15, -0.1, 0.2)
fit <- function(..., data = clinic, qmatrix = start, covariates = ~treated,
                covinits = list(treated = effects), fixedpars = TRUE)
  do.call(msm, list(..., subject = quote(subject), data = data,
                    qmatrix = qmatrix, covariates = covariates,
                    covinits = covinits, fixedpars = fixedpars,
                    center = FALSE))
log_likelihood <- function(name, ...) {
  value <- fit(...)
  cat("log_likelihood", name, numbers(-value$minus2loglik / 2), "\n")
  invisible(value)
}

# Log likelihoods at given parameters.
log_likelihood("START", state ~ time, deathexact = 4,
               covinits = list(treated = rep(0, 6)))
log_likelihood("GIVEN", state ~ time, deathexact = 4)
log_likelihood("DEATH_AT_VISIT", state ~ time)
log_likelihood("DOSE", state ~ time, deathexact = 4,
               covariates = ~treated + dose,
               covinits = list(treated = effects, dose = dose))
codes <- list(censor = c(98, 99), censor.states = list(c(1, 2), c(1, 2, 3)))
clinic$later <- ifelse(clinic$time == 0, clinic$state, clinic$code)
log_likelihood("CODES", later ~ time, deathexact = 4, censor = codes$censor,
               censor.states = codes$censor.states)
log_likelihood("CODES_FIRST", code ~ time, deathexact = 4,
               censor = codes$censor, censor.states = codes$censor.states)
log_likelihood("MONITORED", state ~ time, data = monitored,
               obstype = quote(kind))
second <- c(0.2, -0.1, 0.1, 0.3, 0.2, -0.2)
third <- c(0.4, 0.1, -0.3, 0.2, 0.3, 0.1)
periods <- list(treated = effects, "timeperiod[2,5)" = second,
                "timeperiod[5,Inf)" = third)
in_periods <- log_likelihood("PERIODS", state ~ time, deathexact = 4, pci = c(2, 5),
               covinits = periods)
log_likelihood("PERIODS_DOSE", state ~ time, deathexact = 4, pci = c(2, 5),
               covariates = ~treated + dose,
               covinits = c(periods, list(dose = dose)))
# Where a cut is within an interval without a jump, pci alone lets the subject
# leave and come back before the cut. Rows there hold the state.
cuts <- c(2, 5)
later <- which(monitored$kind == 2)
at_cuts <- lapply(cuts, function(cut) {
  within <- later[monitored$time[later - 1] < cut & cut < monitored$time[later]]
  rows <- monitored[within - 1, ]
  rows$time <- rep(cut, length(within))
  rows$kind <- rep(2, length(within))
  rows
})
split <- rbind(monitored, do.call(rbind, at_cuts))
split <- split[order(split$subject, split$time), ]
log_likelihood("PERIODS_MONITORED", state ~ time, data = split,
               obstype = quote(kind), pci = cuts, covinits = periods)
log_likelihood("PERIODS_CODES", later ~ time, deathexact = 4, pci = c(2, 5),
               covinits = periods, censor = codes$censor,
               censor.states = codes$censor.states)

# Hidden states. The first state is not known.
first <- c(0.65, 0.25, 0.1, 0)
doctor <- rbind(c(0.88, 0.12, 0, 0), c(0.1, 0.82, 0.08, 0),
                c(0, 0.15, 0.85, 0), c(0, 0, 0, 1))
log_likelihood("LABELS", label ~ time, deathexact = 4, ematrix = doctor,
               initprobs = first)
doubts <- c(0.3, -0.2, 0.4, 0.1)
log_likelihood("LABELS_TREATED", label ~ time, deathexact = 4,
                         ematrix = doctor, initprobs = first,
                         misccovariates = ~treated,
                         misccovinits = list(treated = doubts))
log_likelihood("LABELS_DOSE", label ~ time, deathexact = 4, ematrix = doctor,
               initprobs = first, misccovariates = ~dose,
               misccovinits = list(dose = doubts))
labels <- log_likelihood("LABELS_AT_VISIT", label ~ time, ematrix = doctor,
                         initprobs = first)
log_likelihood("LABELS_FROM_WELL", label ~ time, deathexact = 4,
               ematrix = doctor,
               data = clinic[ave(clinic$state, clinic$subject,
                                 FUN = function(x) x[1]) == 1, ])
clinic$known <- as.numeric(clinic$time == 0)
clinic$checked <- ifelse(clinic$known == 1, clinic$state, clinic$label)
log_likelihood("LABELS_KNOWN_FIRST", checked ~ time, deathexact = 4,
               ematrix = doctor, initprobs = first, obstrue = quote(known))
clinic$coded <- ifelse(clinic$code > 90, clinic$code, clinic$label)
log_likelihood("LABELS_CODES", coded ~ time, deathexact = 4, ematrix = doctor,
               initprobs = first, censor = codes$censor,
               censor.states = codes$censor.states)
# A first row with a known set has the probabilities of the set's states alone,
# made to sum to 1.
clinic$known <- as.numeric(clinic$code > 90 & clinic$time > 0)
log_likelihood("LABELS_SETS", coded ~ time, deathexact = 4, ematrix = doctor,
               initprobs = first, censor = codes$censor,
               censor.states = codes$censor.states, obstrue = quote(known))
log_likelihood("LABELS_PERIODS", label ~ time, deathexact = 4,
               ematrix = doctor, initprobs = first, pci = c(2, 5),
               covinits = periods)
outcome <- function(name, ..., by)
  log_likelihood(name, ..., deathexact = 4, initprobs = first,
                 hmodel = c(by, list(hmmIdent(99))))
markers <- list(hmmNorm(0.1, 0.55), hmmNorm(0.9, 0.65), hmmNorm(2.4, 0.75))
outcome("MARKER", marker ~ time, by = markers)
outcome("MARKER_DOSE", marker ~ time, by = markers,
        hcovariates = list(~dose, ~dose, ~dose, ~1),
        hcovinits = list(-0.1, 0.2, 0.3, NULL))
outcome("SHARE", share ~ time,
        by = list(hmmTNorm(0.4, 0.5, 0, Inf), hmmTNorm(1.4, 0.7, 0, Inf),
                  hmmTNorm(2.4, 0.8, 0, Inf)))
counts <- list(hmmPois(1.2), hmmPois(3.5), hmmPois(8))
outcome("COUNT", count ~ time, by = counts)
outcome("COUNT_DOSE", count ~ time, by = counts,
        hcovariates = list(~dose, ~dose, ~dose, ~1),
        hcovinits = list(-0.1, 0.2, 0.3, NULL))

# Two phases of well and of mild.
# deathexact counts phases.
log_likelihood("PHASES", state ~ time, deathexact = 6, phase.states = c(1, 2),
               phase.inits = list(
                 list(trans = 0.5, exit = rbind(c(0.2, 0.4), c(0.03, 0.06))),
                 list(trans = 0.3, exit = rbind(c(0.1, 0.2), c(0.2, 0.25),
                                                c(0.05, 0.08)))),
               covinits = list(treated = c(
                 0.1, -0.4, -0.1, -0.3, -0.2, -0.05, 0.2, -0.3, 0.15, 0.25,
                 -0.2, 0.1, -0.25)))

# Maxima. Rows are parameters: estimate, standard error.
show("CRUDE_INTENSITIES", crudeinits.msm(state ~ time, subject, start, clinic))
show("CRUDE_CODES",
     crudeinits.msm(code ~ time, subject, start, clinic, codes$censor,
                    codes$censor.states))
# BFGS stops early: Newton's steps follow, each the start of another search.
maximize <- function(name, ...) {
  intensities <- start
  hazards <- effects
  for (round in 1:4) {
    value <- fit(state ~ time, deathexact = 4, fixedpars = FALSE,
                 qmatrix = intensities, covinits = list(treated = hazards),
                 control = list(fnscale = 4000, reltol = 1e-15, maxit = 10000),
                 hessian = TRUE, ...)
    step <- solve(value$opt$hessian, value$deriv)
    free <- value$paramdata$optpars
    estimates <- value$estimates
    estimates[free] <- estimates[free] - step
    estimates <- estimates[match(value$paramdata$constr,
                                 value$paramdata$constr)]
    intensities <- t(start)
    intensities[intensities > 0] <- exp(estimates[1:6])
    intensities <- t(intensities)
    hazards <- estimates[7:12]
  }
  errors <- sqrt(diag(value$covmat))
  cat("step", name, numbers(max(abs(step) / errors[free])), "\n")
  show(paste0(name, "_MAXIMUM"), -value$minus2loglik / 2)
  show(name, cbind(value$estimates, errors))
  invisible(value)
}
base <- maximize("BASE")
tied <- list(constraint = list(treated = c(1, 2, 3, 1, 2, 2)),
             qconstraint = c(1, 2, 3, 4, 2, 5))
given <- fit(state ~ time, deathexact = 4, constraint = tied$constraint,
             qconstraint = tied$qconstraint)
show("TIED_GIVEN", -given$minus2loglik / 2)
maximize("TIED", constraint = tied$constraint, qconstraint = tied$qconstraint)

# Answers at the maximum of BASE, for the untreated and the treated.
for (treated in 0:1) {
  answer <- function(name, x) show(paste0(name, "_", treated), x)
  at <- list(treated = treated)
  intensities <- qmatrix.msm(base, covariates = at)
  for (part in c("estimates", "SE", "L", "U"))
    answer(paste0("INTENSITIES_", toupper(part)), intensities[[part]])
  answer("TRANSITION_PROBS", pmatrix.msm(base, t = 5, covariates = at))
  answer("SOJOURNS", sojourn.msm(base, covariates = at))
  following <- pnext.msm(base, covariates = at, ci = "delta")
  for (part in c("estimates", "L", "U"))
    answer(paste0("NEXT_STATES_", toupper(part)), following[[part]])
  # From state 1 to all states, in the years from 1 to 5.
  answer("STAYS", totlos.msm(base, 1, 1:4, 1, 5, covariates = at))
  answer("STAYS_FOREVER",
         totlos.msm(base, covariates = at, rel.tol = 1e-12)[1:3])
  answer("PASSAGES_TO_DEAD", efpt.msm(base, tostate = 4, covariates = at))
  answer("PASSAGES_TO_SEVERE", efpt.msm(base, tostate = 3, covariates = at))
}
show("HAZARD_RATIOS", hazard.msm(base)$treated)
times <- c(0, 1, 2.5, 4, 6)
for (way in c("start", "midpoint")) {
  prevalence <- prevalence.msm(base, times = times, interp = way)
  show(paste0("OBSERVED_", toupper(way)), prevalence$Observed)
  show(paste0("EXPECTED_", toupper(way)), prevalence$Expected)
}
show("EXPECTED_TREATED",
     prevalence.msm(base, times = times, covariates = list(treated = 1))$Expected)
show("PERIODS_TRANSITION_PROBS",
     pmatrix.msm(in_periods, t = 5, t1 = 1, covariates = list(treated = 1)))
# Visits until the first severe state, where this model ends.
alive <- clinic[clinic$state < 4, ]
severe_before <- ave(alive$state == 3, alive$subject,
                     FUN = function(x) cumsum(x) - x)
alive <- alive[severe_before == 0, ]
panel <- fit(state ~ time, data = alive, qmatrix = start[1:3, 1:3],
             covinits = list(treated = effects[c(1, 3, 4)]),
             fixedpars = FALSE,
             control = list(fnscale = 2000, reltol = 1e-15, maxit = 10000))
show("PEARSON_ESTIMATES", panel$estimates)
test <- pearson.msm(panel, timegroups = 2, intervalgroups = 2, covgroups = 2)
show("PEARSON", test$test)
show("PEARSON_OBSERVED", test$Observed[, -(1:3)])
show("PEARSON_EXPECTED", test$Expected[, -(1:3)])
# The paths of viterbi.msm are not the most likely ones, its probabilities are
# right where deaths are seen at visits.
path <- viterbi.msm(labels)
show("SMOOTHED", path$pstate[path$subject <= 20, ])
cat("version R", as.character(getRversion()), "with msm",
    as.character(packageVersion("msm")), "\n")
