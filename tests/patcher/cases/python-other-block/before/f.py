def f(x):
    if x:
        step(x)
    return x
