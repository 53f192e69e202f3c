# Prints figures of regressions by R's survreg. Each line has the name of a fit,
# its log likelihood, and for each parameter the estimate, its standard error
# and its robust one; or the name of a constant and its values.
#
#   Rscript survreg_fits.R FOLDER    where FOLDER has the tables as CSV files

library(survival)
library(splines)

folder <- commandArgs(trailingOnly = TRUE)[1]
read <- function(name) read.csv(file.path(folder, paste0(name, ".csv")))
rossi <- read("rossi")
patients <- read("lung")
intervals <- read("intervals")
stopifnot(all(patients$time == lung$time, patients$age == lung$age,
              patients$status + 1 == lung$status, patients$sex == lung$sex),
          all.equal(patients$inst, lung$inst))
control <- survreg.control(rel.tolerance = 1e-14, iter.max = 100)

numbers <- function(x) paste(sprintf("%.15g", x), collapse = " ")
show_values <- function(name, x) cat("values", name, numbers(x), "\n")
# Two corrections of the robust errors of survreg in survival 3.5: it leaves
# weights out of the scores; and where a time lies within an interval (status
# 3), the score of the log scale has the wrong sign, so that scores do not sum
# to 0.
robust_variance <- function(fit) {
  if (!is.null(fit$weights))
    return(crossprod(residuals(fit, "dfbeta", weighted = TRUE)))
  y <- fit$y
  if (attr(y, "type") != "interval")
    return(fit$var)
  scores <- residuals(fit, "dfbeta") %*% solve(fit$naive.var)
  within <- y[, ncol(y)] == 3
  scores[within, ncol(scores)] <- -scores[within, ncol(scores)]
  stopifnot(abs(colSums(scores)) < 1e-6)
  crossprod(scores %*% fit$naive.var)
}
show <- function(name, fit) {
  estimates <- fit$coefficients
  if (nrow(fit$var) > length(estimates))  # not where the scale is held
    estimates <- c(estimates, log(fit$scale))
  errors <- cbind(estimates, sqrt(diag(fit$naive.var)),
                  sqrt(diag(robust_variance(fit))))
  cat("fit", name, numbers(fit$loglik[2]), numbers(t(errors)), "\n")
}

model <- Surv(week, arrest) ~ fin + age + race + wexp + mar + paro + prio
for (dist in c("weibull", "exponential", "loglogistic"))
  show(paste0("ROSSI_", toupper(sub("loglog", "log_log", dist))),
       survreg(model, rossi, dist = dist, robust = TRUE, control = control))

model <- Surv(time, status) ~ age + sex
show("LUNG_WEIBULL", survreg(model, patients, robust = TRUE, control = control))
show("LUNG_CLUSTERS",
     survreg(model, patients[!is.na(patients$inst), ], robust = TRUE,
             cluster = inst, control = control))
show("LUNG_WEIGHTS",
     survreg(model, patients, weights = weight, robust = TRUE,
             control = control))
show("LUNG_STRATA",
     survreg(Surv(time, status) ~ age + strata(sex), patients, robust = TRUE,
             control = control))
show("LUNG_OFFSET",
     survreg(Surv(time, status) ~ sex + offset(-0.01 * age), patients,
             robust = TRUE, control = control))
show("LUNG_SPLINE",
     survreg(Surv(time, status) ~ bs(age, df = 4) + sex, patients,
             robust = TRUE, control = control))

intervals$lower[intervals$lower == 0] <- NA
intervals$upper[is.infinite(intervals$upper)] <- NA
model <- Surv(lower, upper, type = "interval2") ~ dose + group
for (dist in c("weibull", "loglogistic"))
  show(paste0("INTERVALS_", toupper(sub("loglog", "log_log", dist))),
       survreg(model, intervals, dist = dist, robust = TRUE, control = control))

fit <- survreg(Surv(time, status) ~ age + sex, patients, control = control)
people <- data.frame(age = c(50, 63, 74), sex = c(1, 2, 1))
at <- function(type)
  predict(fit, people, type = type, p = c(0.1, 0.5, 0.9), se.fit = TRUE)
show_values("QUANTILES", t(at("quantile")$fit))
show_values("QUANTILE_ERRORS", t(at("quantile")$se.fit))
show_values("LOG_QUANTILE_ERRORS", t(at("uquantile")$se.fit))
ages <- match(c(39, 50, 63, 82), patients$age)
show_values("SPLINE_BASIS", t(bs(patients$age, df = 4)[ages, ]))

effects <- c("fin", "age", "race", "wexp", "mar", "paro", "prio")
fitted_to <- function(terms, data)
  survreg(reformulate(terms, quote(Surv(week, arrest))), data,
          control = control)
fit <- fitted_to(effects, rossi)
excess <- function(value, name) {
  rossi$held <- value * rossi[[name]]
  profile <- fitted_to(c(setdiff(effects, name), "offset(held)"), rossi)
  2 * (fit$loglik[2] - profile$loglik[2]) - qchisq(0.95, 1)
}
ends <- function(name) {
  estimate <- fit$coefficients[[name]]
  reach <- 3 * sqrt(vcov(fit)[name, name])
  sapply(c(-reach, reach), function(r)
    uniroot(excess, sort(c(estimate, estimate + r)), name, tol = 1e-13)$root)
}
show_values("PROFILE_INTERVALS", c(ends("fin"), ends("prio")))
for (level in 0:1) {
  place <- predict(fit, transform(rossi, fin = level), type = "lp")
  show_values(paste0("STANDARDIZED_", level),
              sapply(c(13, 26, 39, 52), function(week)
                mean(exp(-exp((log(week) - place) / fit$scale)))))
}
cat("version R", as.character(getRversion()), "with survival",
    as.character(packageVersion("survival")), "\n")
