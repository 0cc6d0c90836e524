/* SLEEF asks for what its build system has found; for these functions that is nothing. */
