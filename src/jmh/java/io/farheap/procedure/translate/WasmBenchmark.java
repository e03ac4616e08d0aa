package io.farheap.procedure.translate;

import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A peer of {@link ProcedureBenchmark}: the same chase and scan over 16 KiB as WebAssembly, compiled to Java bytecode
 * by Chicory, without fuel, suspension or masks. Nanoseconds a hop, or a record of 16 bytes.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = 3)
public class WasmBenchmark {

    private static final int STEPS = 1000;
    private static final int BYTES = 16384;
    private static final int NODE_BYTES = 64;

    private ExportFunction chase;
    private ExportFunction scan;
    private long at;

    @Setup
    public void open() {
        WasmModule module = Parser.parse(module());
        Instance instance = Instance.builder(module)
                .withMachineFactory(MachineFactoryCompiler.compile(module))
                .build();
        link(instance);
        chase = instance.export("chase");
        scan = instance.export("scan");
    }

    /** One circle through all nodes, in random order (Sattolo). */
    private static void link(Instance instance) {
        Random random = new Random(1);
        int nodes = BYTES / NODE_BYTES;
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
            instance.memory().writeLong(i * NODE_BYTES, (long) order[i] * NODE_BYTES);
            instance.memory().writeLong(i * NODE_BYTES + 8, random.nextInt());
        }
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public long wasmChase() {
        at = chase.apply(at, STEPS)[0];
        return at;
    }

    @Benchmark
    @OperationsPerInvocation(STEPS)
    public long wasmScan() {
        return scan.apply(0, STEPS, 0)[0];
    }

    /** Of WebAssembly's binary format, version 1: a memory, {@code chase} and {@code scan}. */
    private static byte[] module() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        write(out, 0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
        // Types: (node, hops) and (first, records, least), longs, to a long.
        section(out, 1, 2, 0x60, 2, 0x7e, 0x7e, 1, 0x7e, 0x60, 3, 0x7e, 0x7e, 0x7e, 1, 0x7e);
        section(out, 3, 2, 0, 1);
        section(out, 5, 1, 0, 1);
        ByteArrayOutputStream exports = new ByteArrayOutputStream();
        exports.write(2);
        export(exports, "chase", 0);
        export(exports, "scan", 1);
        section(out, 7, ints(exports));
        int[] chase = {
            0, // no more local variables
            0x02,
            0x40,
            0x03,
            0x40, // block loop
            0x20,
            1,
            0x50,
            0x0d,
            1, // hops == 0: out
            0x20,
            0,
            0xa7,
            0x29,
            3,
            0,
            0x21,
            0, // node = load(node)
            0x20,
            1,
            0x42,
            1,
            0x7d,
            0x21,
            1, // hops--
            0x0c,
            0,
            0x0b,
            0x0b,
            0x20,
            0,
            0x0b // again; node
        };
        int[] scan = {
            1,
            2,
            0x7e, // end, sum
            0x20,
            0,
            0x20,
            1,
            0x42,
            16,
            0x7e,
            0x7c,
            0x21,
            3, // end = first + 16 * records
            0x02,
            0x40,
            0x03,
            0x40, // block loop
            0x20,
            0,
            0x20,
            3,
            0x59,
            0x0d,
            1, // first >= end: out
            0x20,
            0,
            0xa7,
            0x29,
            3,
            0,
            0x20,
            2,
            0x59,
            0x04,
            0x40, // load(first) >= least: if
            0x20,
            4,
            0x20,
            0,
            0xa7,
            0x29,
            3,
            8,
            0x7c,
            0x21,
            4,
            0x0b, // sum += load(first + 8)
            0x20,
            0,
            0x42,
            16,
            0x7c,
            0x21,
            0, // first += 16
            0x0c,
            0,
            0x0b,
            0x0b,
            0x20,
            4,
            0x0b // again; sum
        };
        ByteArrayOutputStream code = new ByteArrayOutputStream();
        write(code, 2, chase.length);
        write(code, chase);
        write(code, scan.length);
        write(code, scan);
        section(out, 10, ints(code));
        return out.toByteArray();
    }

    private static void export(ByteArrayOutputStream out, String name, int function) {
        out.write(name.length());
        out.writeBytes(name.getBytes(StandardCharsets.US_ASCII));
        write(out, 0, function);
    }

    /** Lengths below 128. */
    private static void section(ByteArrayOutputStream out, int id, int... bytes) {
        write(out, id, bytes.length);
        write(out, bytes);
    }

    private static int[] ints(ByteArrayOutputStream bytes) {
        byte[] all = bytes.toByteArray();
        int[] ints = new int[all.length];
        for (int i = 0; i < all.length; i++) {
            ints[i] = all[i] & 0xff;
        }
        return ints;
    }

    private static void write(ByteArrayOutputStream out, int... bytes) {
        for (int each : bytes) {
            out.write(each);
        }
    }
}
