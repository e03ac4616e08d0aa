package io.farheap.coding;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** A page of 4 KiB as 8+2: its parities made, and one or two of its data splits. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class CoderBenchmark {

    private static final ErasureCode CODE = ErasureCode.of(8, 2);
    private static final int SPLIT_BYTES = 512;

    @Param({"ISAL", "JAVA"})
    private CodingLibrary library;

    private final Arena arena = Arena.ofShared();
    private final long[] splits = new long[CODE.splits()];
    private final int[] changing = {3, 5, 6};
    private int next;
    private Coder coder;

    @Setup(Level.Trial)
    public void open() {
        MemorySegment page = arena.allocate((long) CODE.splits() * SPLIT_BYTES, 64);
        for (int split = 0; split < splits.length; split++) {
            splits[split] = page.address() + (long) split * SPLIT_BYTES;
        }
        page.fill((byte) 7);
        coder = new Coder(CODE, library);
        coder.encode(splits, SPLIT_BYTES);
    }

    @TearDown(Level.Trial)
    public void close() {
        coder.close();
        arena.close();
    }

    @Benchmark
    public void encode() {
        coder.encode(splits, SPLIT_BYTES);
    }

    /** By the first parity: an exclusive-or. */
    @Benchmark
    public void oneLost() {
        coder.recover(splits, SPLIT_BYTES, CODE.all() & ~0b100, 0b100);
    }

    /** By the second parity alone. */
    @Benchmark
    public void oneLostAndTheFirstParity() {
        coder.recover(splits, SPLIT_BYTES, CODE.all() & ~0b1_0000_0100, 0b100);
    }

    @Benchmark
    public void twoLost() {
        coder.recover(splits, SPLIT_BYTES, CODE.all() & ~0b101, 0b101);
    }

    /** What it would be if nothing were kept: the matrix inverted each time. */
    @Benchmark
    public Object invertedEachTime() {
        int lost = changing[next = (next + 1) % changing.length];
        return CODE.rows(CODE.sources(CODE.all() & ~lost), lost);
    }

    @Benchmark
    public boolean agree() {
        return coder.agree(splits, SPLIT_BYTES, CODE.all() & ~0b10_0000_0000);
    }
}
