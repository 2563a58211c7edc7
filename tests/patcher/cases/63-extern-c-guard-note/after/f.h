#ifdef __cplusplus
namespace c { extern "C" {
#endif
int api(long);
#ifdef __cplusplus
}}
#endif
