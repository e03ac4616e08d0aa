package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.bytedeco.javacpp.Pointer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What a call of native code costs by itself: three arguments, an addition, in each style. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class EmptyCallBenchmark {

    private static final FunctionDescriptor LONGS = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor SEGMENTS = FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, ADDRESS);
    private static final Linker.Option CRITICAL = Linker.Option.critical(false);

    private static final MethodHandle MH$ffm = Linker.nativeLinker().downcallHandle(JavacppCalls.empty(), LONGS);
    private static final MethodHandle MH$critical =
            Linker.nativeLinker().downcallHandle(JavacppCalls.empty(), LONGS, CRITICAL);
    private static final MethodHandle MH$segments =
            Linker.nativeLinker().downcallHandle(JavacppCalls.empty(), SEGMENTS, CRITICAL);
    private static final MethodHandle MH$address = Linker.nativeLinker().downcallHandle(LONGS, CRITICAL);

    /** Read at run time, as the pointers in {@code ibv_context.ops} are. */
    private MemorySegment function = JavacppCalls.empty();

    private MethodHandle notConstant = MH$address;
    private long a = 1;
    private long b = 2;
    private long c = 3;
    private final MemorySegment segment = Arena.global().allocate(64);
    private final Pointer pointer = new Pointer(new Address(segment.address()));

    @Benchmark
    public long java() {
        return a + b + c;
    }

    @Benchmark
    public long jniByAddress() {
        return JniCalls.empty(a, b, c);
    }

    @Benchmark
    public long javacppLong() {
        return JavacppCalls.emptyByAddress(a, b, c);
    }

    @Benchmark
    public long javacppPointer() {
        return JavacppCalls.emptyByPointer(pointer, pointer, pointer);
    }

    @Benchmark
    public long ffm() throws Throwable {
        return (long) MH$ffm.invokeExact(a, b, c);
    }

    @Benchmark
    public long ffmCritical() throws Throwable {
        return (long) MH$critical.invokeExact(a, b, c);
    }

    @Benchmark
    public long ffmCriticalSegments() throws Throwable {
        return (long) MH$segments.invokeExact(segment, segment, segment);
    }

    @Benchmark
    public long ffmCriticalThroughPointer() throws Throwable {
        return (long) MH$address.invokeExact(function, a, b, c);
    }

    /** Why handles are static and final. */
    @Benchmark
    public long ffmCriticalThroughPointerHandleNotConstant() throws Throwable {
        return (long) notConstant.invokeExact(function, a, b, c);
    }

    /** JavaCPP makes pointers of addresses only through a pointer. */
    private static final class Address extends Pointer {
        Address(long address) {
            this.address = address;
        }
    }
}
