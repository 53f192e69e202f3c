# Answers lines of standard input by R's msm:
#
#   Rscript msm_calls.R TABLE RATES EFFECTS
#
# TABLE is a CSV file with columns subject, time, state and age, RATES and EFFECTS
# are numbers with commas. A line is a function, whether age has effects, 1 or 0,
# and a factor of RATES:
#
#   likelihood   calls msm with fixed parameters: the log likelihood
#   step         calls the two functions that msm gives to its optimizer, once
#                each: the log likelihood and its derivatives with respect to the
#                log rates and the effects
#   fit          calls msm from crude starting rates: the log likelihood, and
#                standard errors
#
# An answer is a line of numbers. Before any line the version of msm is printed.

suppressMessages(library(msm))
given <- commandArgs(trailingOnly = TRUE)
numbers <- function(x) as.numeric(strsplit(x, ",")[[1]])
patients <- read.csv(given[1])
rates <- numbers(given[2])
effects <- numbers(given[3])
start <- rbind(c(0, rates[1], 0, rates[2]), c(rates[3], 0, rates[4], rates[5]),
               c(0, rates[6], 0, rates[7]), rep(0, 4))

model <- function(with_age, scale, ..., covinits = NULL)
  msm(state ~ time, subject = subject, data = patients, qmatrix = scale * start,
      deathexact = 4, covariates = if (with_age) ~age, center = FALSE,
      covinits = if (with_age) covinits, ...)
likelihood <- function(with_age, scale)
  -model(with_age, scale, fixedpars = TRUE,
         covinits = list(age = effects))$minus2loglik / 2

# A method for msm's argument opt.method, which only keeps what it is given.
kept <- list()
msm.optim.keep <- function(p, gr, hessian, ...) {
  calls <- list(parameters = p$inits, slopes = gr,
                others = c(list(...), list(paramdata = p)))
  stop(structure(class = c("kept", "condition"),
                 list(message = "kept", call = NULL, calls = calls)))
}
for (with_age in c(FALSE, TRUE))
  kept[[with_age + 1]] <- tryCatch(
    model(with_age, 1, covinits = list(age = effects), opt.method = "keep"),
    kept = function(condition) condition$calls)
step <- function(with_age, scale) {
  calls <- kept[[with_age + 1]]
  parameters <- calls$parameters
  parameters[1:7] <- parameters[1:7] + log(scale)
  at <- c(list(params = parameters), calls$others)
  c(do.call(msm:::lik.msm, at), do.call(calls$slopes, at)) / -2
}

fit <- function(with_age, scale) {
  value <- model(with_age, scale, gen.inits = TRUE,
                 control = list(fnscale = 4000, maxit = 1000))
  c(-value$minus2loglik / 2, sqrt(diag(value$covmat)))
}

answer <- function(x) {
  cat(x, "\n")
  flush(stdout())
}
functions <- list(likelihood = likelihood, step = step, fit = fit)
answer(as.character(packageVersion("msm")))
lines <- file("stdin", "r")
while (length(line <- readLines(lines, 1)) > 0) {
  words <- strsplit(line, " ")[[1]]
  values <- functions[[words[1]]](words[2] == "1", as.numeric(words[3]))
  answer(sprintf("%.17g", values))
}
