package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.verbs.binding.ibv_wc;
import io.farheap.verbs.binding.ibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.bytedeco.javacpp.Loader;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The device's {@code poll_cq} on an empty completion queue, in each style; {@code farheap} is the one that was chosen.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class PollCallBenchmark {

    private static final FunctionDescriptor POLL = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MH$ffm = Linker.nativeLinker().downcallHandle(POLL);
    private static final MethodHandle MH$critical =
            Linker.nativeLinker().downcallHandle(POLL, Linker.Option.critical(false));

    private LoopbackPair pair;
    private CompletionQueue queue;
    private long address;
    private MemorySegment function;
    private MemorySegment memory;
    private ibv_wc completions;

    @Setup
    public void open() {
        pair = new LoopbackPair();
        queue = pair.idle;
        address = queue.handle().address();
        function = MemorySegment.ofAddress(
                ibverbs.farheap_poll_cq_address(queue.handle().context()));
        memory = Arena.global().allocate(Loader.sizeof(ibv_wc.class) * LoopbackPair.DEPTH, 64);
        completions = new ibv_wc(NativePointers.pointer(memory));
    }

    @TearDown
    public void close() {
        pair.close();
    }

    @Benchmark
    public int jniByAddress() {
        return JniCalls.poll(address, LoopbackPair.DEPTH, memory.address());
    }

    @Benchmark
    public int javacppPointer() {
        return JavacppCalls.pollByPointer(queue.handle(), LoopbackPair.DEPTH, completions);
    }

    @Benchmark
    public int ffmThroughOps() throws Throwable {
        return (int) MH$ffm.invokeExact(function, address, LoopbackPair.DEPTH, memory.address());
    }

    @Benchmark
    public int ffmCriticalThroughOps() throws Throwable {
        return (int) MH$critical.invokeExact(function, address, LoopbackPair.DEPTH, memory.address());
    }

    @Benchmark
    public int farheap() {
        return queue.poll();
    }
}
