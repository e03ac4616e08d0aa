package io.farheap.cache;

import io.farheap.latency.LatencyTracking;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** End to end: a session's reads and writes of another process's memory, hot; ns per operation. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class CacheSessionBenchmark {

    private static final int IN_FLIGHT = 16;

    @Param({"8", "64", "4096"})
    private int bytes;

    @Param({"NONE", "SAMPLED", "EVERY"})
    private LatencyTracking trackLatency;

    private FarCache far;

    @Setup
    public void open() {
        far = new FarCache(trackLatency);
    }

    @TearDown
    public void close() {
        far.close();
    }

    @Benchmark
    public void read() {
        FarCache.accepted(far.session.read(0, far.buffer, 0, bytes, far.completion, 0));
        far.await(1);
    }

    @Benchmark
    public void write() {
        FarCache.accepted(far.session.write(0, far.buffer, 0, bytes, far.completion, 0));
        far.await(1);
    }

    @Benchmark
    public void readBlocking() {
        far.session.readBlocking(0, far.buffer, 0, bytes);
    }

    @Benchmark
    public void writeBlocking() {
        far.session.writeBlocking(0, far.buffer, 0, bytes);
    }

    @Benchmark
    @OperationsPerInvocation(IN_FLIGHT)
    public void readSixteen() {
        for (int i = 0; i < IN_FLIGHT; i++) {
            FarCache.accepted(
                    far.session.read((long) i * bytes, far.buffer, (long) i * bytes, bytes, far.completion, i));
        }
        far.await(IN_FLIGHT);
    }

    @Benchmark
    @OperationsPerInvocation(IN_FLIGHT)
    public void writeSixteen() {
        for (int i = 0; i < IN_FLIGHT; i++) {
            FarCache.accepted(
                    far.session.write((long) i * bytes, far.buffer, (long) i * bytes, bytes, far.completion, i));
        }
        far.await(IN_FLIGHT);
    }
}
