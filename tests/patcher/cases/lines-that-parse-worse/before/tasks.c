static void yield(int core)
{
    int state = state_of(core);

    if ((state == RUNNING) || (state == STARTED)) {
        request(core);
    }

    if (priority(core) > 0) {
        switch_context(core);
    }
}

static int last(int core)
{
    return state_of(core);
}
