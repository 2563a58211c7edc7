#ifdef __cplusplus
extern "C" {
#endif
int api(int, int);
#ifdef __cplusplus
}
#endif
