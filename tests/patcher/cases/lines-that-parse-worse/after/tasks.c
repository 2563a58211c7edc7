static void yield(int core)
{
    int state = state_of(core);

    if ((state == RUNNING) || (state == STARTED)) {
        request(core);
    }

    #if (CORES > 1)
        if (priority(core) > 0) {
    #else
        if ((priority(core) > 0) && (locked(core) == 0)) {
    #endif
        switch_context(core);
    }
}

static int last(int core)
{
    return state_of(core);
}
