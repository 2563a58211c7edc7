#ifdef __cplusplus
namespace c { extern "C" {
#endif
int api(int);
#ifdef __cplusplus
}}
#endif
