"""Use cases, one file each: read a snapshot, decide a plan from it alone, commit the plan or refuse it as stale.

Nothing here knows asyncio, the clock or the environment. `snapshot` and the body of `commit` run in the daemon;
`decide` is pure and runs in the compute process. Both import the same file, so that a case reads from top to bottom in
one place. What only deciding needs and the daemon does not load otherwise (above all the extractive distiller) is
imported inside `decide`: at the top of the file it would cost every daemon start time and idle memory. Two decisions
are modules of their own because of their size: `distillation` and
`screening`.
"""
