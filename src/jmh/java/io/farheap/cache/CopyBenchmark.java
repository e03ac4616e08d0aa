package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.farheap.latency.LatencyTracking;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Between the heap and a registered buffer: the copy by itself, and operations that make it (through a bounce buffer).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class CopyBenchmark {

    @Param({"8", "64", "4096"})
    private int bytes;

    private FarCache far;
    private byte[] array;
    private MemorySegment heap;

    @Setup
    public void open() {
        far = new FarCache(LatencyTracking.NONE);
        array = new byte[bytes];
        heap = MemorySegment.ofArray(array);
    }

    @TearDown
    public void close() {
        far.close();
    }

    @Benchmark
    public byte[] out() {
        MemorySegment.copy(far.buffer.segment(), JAVA_BYTE, 0, array, 0, bytes);
        return array;
    }

    @Benchmark
    public void in() {
        MemorySegment.copy(array, 0, far.buffer.segment(), JAVA_BYTE, 0, bytes);
    }

    @Benchmark
    public void readToHeap() {
        FarCache.accepted(far.session.read(0, heap, far.completion, 0));
        far.await(1);
    }

    @Benchmark
    public void writeFromHeap() {
        FarCache.accepted(far.session.write(0, heap, far.completion, 0));
        far.await(1);
    }
}
