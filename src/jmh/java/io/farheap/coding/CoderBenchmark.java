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
@Fork(
        value = 3,
        jvmArgsAppend = {"--add-modules", "jdk.incubator.vector"})
public class CoderBenchmark {

    private static final ErasureCode CODE = ErasureCode.of(8, 2);
    private static final int SPLIT_BYTES = 512;

    @Param({"ISAL", "VECTOR", "JAVA"})
    private CodingLibrary library;

    private final Arena arena = Arena.ofShared();
    private final long[] splits = new long[CODE.splits()];
    private final long[] sources = new long[CODE.dataSplits()];
    private final long[] targets = new long[2];
    private final long[] parities = new long[CODE.paritySplits()];
    private Coder coder;
    private Kernel kernel;

    @Setup(Level.Trial)
    public void open() {
        MemorySegment page = arena.allocate((long) CODE.splits() * SPLIT_BYTES, 64);
        for (int split = 0; split < splits.length; split++) {
            splits[split] = page.address() + (long) split * SPLIT_BYTES;
        }
        page.fill((byte) 7);
        // As recover() takes them where splits 0 and 2 are lost.
        int source = 0;
        int target = 0;
        for (int split = 0; split < splits.length; split++) {
            if (split == 0 || split == 2) {
                targets[target++] = splits[split];
            } else {
                sources[source++] = splits[split];
            }
        }
        System.arraycopy(splits, CODE.dataSplits(), parities, 0, parities.length);
        coder = new Coder(CODE, library);
        kernel = library.kernel(arena);
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

    /** What it would be if nothing were kept: the matrix inverted and the tables made each time. */
    @Benchmark
    public void twoLostInvertedEachTime() {
        int lost = 0b101;
        try (Arena own = Arena.ofConfined()) {
            Transform transform = new Transform(CODE.rows(CODE.sources(CODE.all() & ~lost), lost), own);
            kernel.prepare(transform);
            kernel.run(transform, sources, targets, SPLIT_BYTES);
        }
    }

    /** A change of 64 bytes of one data split, at both parities. */
    @Benchmark
    public void addChange() {
        coder.addChange(3, splits[0], parities, 64);
    }

    @Benchmark
    public boolean agree() {
        return coder.agree(splits, SPLIT_BYTES, CODE.all() & ~0b10_0000_0000);
    }
}
