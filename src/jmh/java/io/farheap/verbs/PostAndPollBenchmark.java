package io.farheap.verbs;

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

/** Prepared requests posted and their completions polled, between two queue pairs of one process; ns per request. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class PostAndPollBenchmark {

    public enum Operation {
        READ(SendRequests.READ),
        WRITE(SendRequests.WRITE);

        private final int opcode;

        Operation(int opcode) {
            this.opcode = opcode;
        }
    }

    @Param
    private Operation operation;

    @Param({"8", "64", "4096"})
    private int bytes;

    private LoopbackPair pair;

    @Setup
    public void open() {
        pair = new LoopbackPair();
        pair.prepare(operation.opcode, bytes);
    }

    @TearDown
    public void close() {
        pair.close();
    }

    @Benchmark
    public void one() {
        pair.post(pair.separate, 0, bytes);
        pair.await(1);
    }

    @Benchmark
    @OperationsPerInvocation(LoopbackPair.DEPTH)
    public void sixteenPosts() {
        for (int i = 0; i < LoopbackPair.DEPTH; i++) {
            pair.post(pair.separate, i, bytes);
        }
        pair.await(LoopbackPair.DEPTH);
    }

    @Benchmark
    @OperationsPerInvocation(LoopbackPair.DEPTH)
    public void listOf16() {
        pair.post(pair.list, 0, LoopbackPair.DEPTH * bytes);
        pair.await(LoopbackPair.DEPTH);
    }
}
