struct op table[] = {
    {
        .size = 4,
        .flags = 0,
        .next = 0,
    },
    {
        .size = 4,
        .flags = 0,
        .next = 0,
    },
    {
        .size = 4,
        .flags = 0,
        .next = 0,
    },
};
