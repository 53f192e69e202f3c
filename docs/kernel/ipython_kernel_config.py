"""Settings of the kernels that run the pages' cells."""

c = get_config()  # noqa: F821

c.InlineBackend.figure_formats = {"svg"}
c.IPKernelApp.log_level = "ERROR"
