/* A whole host program in C for a kernel of the ladder `tiles`: C = A B, column-major, float.
 *
 *   tilewright show tiles/02 --program --size 512 > tiles_02.cl
 *   cc -O2 host.c -lOpenCL -lm -o host && ./host tiles_02.cl 512 512 512 512 512 32 32
 *
 * Arguments: FILE M N K, then the global and the local size, as the first lines of FILE say. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(cl_int code, const char *what)
{
    if (code != CL_SUCCESS) {
        fprintf(stderr, "%s failed with code %d\n", what, code);
        exit(1);
    }
}

static char *read_file(const char *name, size_t *length)
{
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        perror(name);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    *length = fread(text, 1, *length, file);
    fclose(file);
    return text;
}

static cl_device_id first_device(void)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    check(clGetPlatformIDs(16, platforms, &count), "clGetPlatformIDs");
    for (cl_uint place = 0; place < count && place < 16; place++) {
        cl_device_id device;
        if (clGetDeviceIDs(platforms[place], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    fprintf(stderr, "there is no OpenCL device\n");
    exit(1);
}

static cl_kernel build(cl_context context, cl_device_id device, const char *name)
{
    size_t length;
    char *text = read_file(name, &length);
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, &length, &code);
    check(code, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        static char log[1 << 16]; /* what the compiler says: never throw it away */
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s does not compile:\n%s\n", name, log);
        exit(1);
    }
    cl_kernel kernel = clCreateKernel(program, "gemm", &code);
    check(code, "clCreateKernel");
    free(text);
    return kernel;
}

static float *random_matrix(size_t elements)
{
    float *matrix = malloc(elements * sizeof *matrix);
    for (size_t i = 0; i < elements; i++)
        matrix[i] = (float)rand() / (float)RAND_MAX - 0.5f; /* constants would hide a wrong index */
    return matrix;
}

static double now(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc != 9) {
        fprintf(stderr, "usage: %s FILE M N K GLOBAL_0 GLOBAL_1 LOCAL_0 LOCAL_1\n", argv[0]);
        return 2;
    }
    const cl_int m = atoi(argv[2]), n = atoi(argv[3]), k = atoi(argv[4]);
    const size_t global[2] = {(size_t)atol(argv[5]), (size_t)atol(argv[6])};
    const size_t local[2] = {(size_t)atol(argv[7]), (size_t)atol(argv[8])};
    const size_t a_elements = (size_t)m * k, b_elements = (size_t)k * n, c_elements = (size_t)m * n;

    cl_device_id device = first_device(); /* one device for the context, the queue and the program */
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    check(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    check(code, "clCreateCommandQueue");
    cl_kernel kernel = build(context, device, argv[1]);

    float *a = random_matrix(a_elements), *b = random_matrix(b_elements), *c = malloc(c_elements * sizeof *c);
    cl_mem buffers[3] = {
        clCreateBuffer(context, CL_MEM_READ_ONLY, a_elements * sizeof *a, NULL, &code),
        clCreateBuffer(context, CL_MEM_READ_ONLY, b_elements * sizeof *b, NULL, &code),
        clCreateBuffer(context, CL_MEM_READ_WRITE, c_elements * sizeof *c, NULL, &code),
    };
    check(code, "clCreateBuffer");
    check(clSetKernelArg(kernel, 0, sizeof m, &m), "clSetKernelArg of M");
    check(clSetKernelArg(kernel, 1, sizeof n, &n), "clSetKernelArg of N");
    check(clSetKernelArg(kernel, 2, sizeof k, &k), "clSetKernelArg of K");
    for (cl_uint place = 0; place < 3; place++)
        check(clSetKernelArg(kernel, 3 + place, sizeof buffers[place], &buffers[place]), "clSetKernelArg of a matrix");

    const double begin = now();
    check(clEnqueueWriteBuffer(queue, buffers[0], CL_TRUE, 0, a_elements * sizeof *a, a, 0, NULL, NULL), "writing A");
    check(clEnqueueWriteBuffer(queue, buffers[1], CL_TRUE, 0, b_elements * sizeof *b, b, 0, NULL, NULL), "writing B");
    /* The first launch is slow: drivers finish their work then. It is not the one to be timed. */
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "the first launch");
    check(clFinish(queue), "the first run");
    cl_event event;
    const double enqueued = now();
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, &event), "the launch");
    const double returned = now(); /* the call returns before the kernel has run */
    check(clFinish(queue), "the run");
    const double finished = now();
    check(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, c_elements * sizeof *c, c, 0, NULL, NULL), "reading C");
    const double end = now();

    cl_ulong started, ended;
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof started, &started, NULL), "the start time");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL), "the end time");
    const double flops = 2.0 * m * n * k, seconds = 1e-9 * (double)(ended - started);
    printf("enqueue alone  %10.3f ms: not the kernel's time\n", 1e3 * (returned - enqueued));
    printf("until finished %10.3f ms\n", 1e3 * (finished - enqueued));
    printf("device's clock %10.3f ms: %.2f GFLOP/s\n", 1e3 * seconds, 1e-9 * flops / seconds);
    printf("with transfers %10.3f ms\n", 1e3 * (end - begin));

    for (int sample = 0; sample < 1000; sample++) {
        const size_t row = (size_t)rand() % m, column = (size_t)rand() % n;
        double sum = 0, size = 0;
        for (size_t i = 0; i < (size_t)k; i++) {
            const double product = (double)a[i * m + row] * b[column * k + i];
            sum += product;
            size += fabs(product);
        }
        const double error = fabs(c[column * m + row] - sum);
        if (!(error <= (k + 2) * 6e-8 * size)) {
            printf("wrong at [%zu, %zu]: %g instead of %g\n", row, column, c[column * m + row], sum);
            return 1;
        }
    }
    printf("right: 1,000 random elements\n");
    return 0;
}
