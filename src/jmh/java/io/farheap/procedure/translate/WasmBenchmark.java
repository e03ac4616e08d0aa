package io.farheap.procedure.translate;

import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
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
        int[] chase = hex("""
                00              # no more local variables
                0240 0340       # block, loop
                2001 50 0d01    # hops == 0: out
                2000 a7 290300 2100    # node = load(node)
                2001 4201 7d 2101      # hops--
                0c00 0b 0b 2000 0b     # again; node
                """);
        int[] scan = hex("""
                01 027e         # end, sum
                2000 2001 4210 7e 7c 2103     # end = first + 16 * records
                0240 0340       # block, loop
                2000 2003 59 0d01             # first >= end: out
                2000 a7 290300 2002 59 0440   # load(first) >= least: if
                2004 2000 a7 290308 7c 2104 0b    # sum += load(first + 8)
                2000 4210 7c 2100             # first += 16
                0c00 0b 0b 2004 0b            # again; sum
                """);
        ByteArrayOutputStream code = new ByteArrayOutputStream();
        write(code, 2, chase.length);
        write(code, chase);
        write(code, scan.length);
        write(code, scan);
        section(out, 10, ints(code));
        return out.toByteArray();
    }

    private static int[] hex(String lines) {
        String digits = lines.replaceAll("#.*", "").replaceAll("\\s", "");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(HexFormat.of().parseHex(digits));
        return ints(bytes);
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
