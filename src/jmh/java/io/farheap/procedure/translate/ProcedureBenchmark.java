package io.farheap.procedure.translate;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.Call;
import io.farheap.procedure.builtin.ChaseToKey;
import io.farheap.procedure.builtin.Filter;
import io.farheap.procedure.builtin.TreeGet;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.procedure.translate.running.TranslatedCode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
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

/**
 * What translation costs: a chase and a scan, translated, beside the same loops as plain Java on the same native
 * memory. Nanoseconds a hop, or a record of 16 bytes. Hot means 16 KiB.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 3)
public class ProcedureBenchmark {

    private static final int STEPS = 1000;
    private static final int RECORD_BYTES = 16;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;

    /** Bytes that the chase goes over. */
    @Param({"16384", "1073741824"})
    private long bytes;

    /** That they are in; a power of two. */
    @Param("1")
    private int regions;

    /** Units of fuel in a slice. */
    @Param("1000000")
    private long slice;

    private final Arena arena = Arena.ofShared();
    private MemorySegment table = MemorySegment.NULL;
    private MemorySegment memory = MemorySegment.NULL;
    private MemorySegment contextMemory = MemorySegment.NULL;
    private CallContext context;
    private TranslatedCode chase;
    private TranslatedCode scan;
    private int shift;
    private long plainAt;
    private long at;

    /** {@code hops} from {@code from}; each word has the next one's address. */
    public static final class Chase {
        public static int run(Call call) {
            long node = call.argument(0);
            for (long hops = call.argument(8); hops > 0; hops--) {
                node = call.getLong(node);
            }
            call.result(0, node);
            return 0;
        }
    }

    /** What the second words of records come to whose first is at least a bound. */
    public static final class Scan {
        public static int run(Call call) {
            long end = call.argument(0) + 16 * call.argument(8);
            long least = call.argument(16);
            long sum = 0;
            for (long record = call.argument(0); record < end; record += 16) {
                if (call.getLong(record) >= least) {
                    sum += call.getLong(record + 8);
                }
            }
            call.result(0, sum);
            return 0;
        }
    }

    @Setup
    public void open() throws IOException {
        memory = arena.allocate(bytes, 4096);
        shift = Long.numberOfTrailingZeros(bytes / regions);
        table = arena.allocate(8L * regions, 8);
        for (int i = 0; i < regions; i++) {
            table.set(LONG, 8L * i, memory.address() + ((long) i << shift));
        }
        contextMemory = arena.allocate(CallContext.MEMORY_BYTES, 64);
        context = new CallContext(contextMemory);
        link();
        chase = translate(Chase.class);
        scan = translate(Scan.class);
        pollute();
    }

    /** A server runs many procedures, so HotSpot puts none of them into its caller. */
    private void pollute() throws IOException {
        TranslatedCode[] some = {translate(Filter.class), translate(ChaseToKey.class), translate(TreeGet.class)};
        arguments(0, 0, 0);
        for (int i = 0; i < 100_000; i++) {
            context.begin(some[i % some.length], 0, bytes, 32, 8, 100);
            context.map(table.address(), regions, shift);
            context.run(100);
        }
    }

    /** One circle through all nodes of 64 bytes, in random order (Sattolo). */
    private void link() {
        Random random = new Random(1);
        int nodes = (int) (bytes / 64);
        int[] order = new int[nodes];
        for (int i = 0; i < nodes; i++) {
            order[i] = i;
        }
        for (int i = nodes - 1; i > 0; i--) {
            int other = random.nextInt(i);
            int swapped = order[i];
            order[i] = order[other];
            order[other] = swapped;
        }
        for (int i = 0; i < nodes; i++) {
            memory.set(LONG, i * 64L, order[i] * 64L);
            memory.set(LONG, i * 64L + 8, random.nextInt());
        }
    }

    private static TranslatedCode translate(Class<?> type) throws IOException {
        try (InputStream in = type.getResourceAsStream(type.getName().replaceAll(".*\\.", "") + ".class")) {
            return Translator.translate(in.readAllBytes(), Translator.Limits.DEFAULT)
                    .code();
        }
    }

    @TearDown
    public void close() {
        arena.close();
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public long plainChase() {
        MemorySegment all = NativeMemory.ALL;
        long base = memory.address();
        long node = plainAt;
        for (int hops = STEPS; hops > 0; hops--) {
            node = all.get(LONG, base + node);
        }
        plainAt = node;
        return node;
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public long translatedChase() {
        arguments(at, STEPS, 0);
        at = call(chase);
        return at;
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public long plainScan() {
        MemorySegment all = NativeMemory.ALL;
        long record = memory.address();
        long end = record + STEPS * RECORD_BYTES;
        long sum = 0;
        for (; record < end; record += RECORD_BYTES) {
            if (all.get(LONG, record) >= 0) {
                sum += all.get(LONG, record + 8);
            }
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public long translatedScan() {
        arguments(0, STEPS, 0);
        return call(scan);
    }

    private void arguments(long first, long second, long third) {
        contextMemory.set(LONG, 0, first);
        contextMemory.set(LONG, 8, second);
        contextMemory.set(LONG, 16, third);
    }

    private long call(TranslatedCode code) {
        context.begin(code, 0, bytes, 24, 8, Long.MAX_VALUE);
        int outcome;
        do {
            context.map(table.address(), regions, shift);
            outcome = context.run(slice);
        } while (outcome == CallContext.FUEL);
        if (outcome != CallContext.RETURNED) {
            throw new IllegalStateException("outcome " + outcome + ", status " + context.status());
        }
        return contextMemory.get(LONG, 4096);
    }
}
