package io.farheap.cli;

import io.farheap.verbs.Devices;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/** {@code farheap bench raw}: what Java costs over C, on the same device in the same run. */
@Command(name = "raw", mixinStandardHelpOptions = true,
    description = "Reads and writes, one after the other, from Java and from a C loop on the same device, taking turns.")
final class BenchRawCommand implements Callable<Integer> {

    private static final long REGION_BYTES = 1 << 20;

    @Option(names = "--op", split = ",", paramLabel = "OP", defaultValue = "read,write", description = "read, write (default: ${DEFAULT-VALUE})")
    private List<String> operations;

    @Option(names = "--size", split = ",", paramLabel = "BYTES", converter = Sizes.class, defaultValue = "8,64,4096,65536",
        description = "payload sizes, up to 1m (default: ${DEFAULT-VALUE})")
    private List<Long> sizes;

    @Option(names = "--turns", paramLabel = "N", defaultValue = "200", description = "how often each side takes its turn (default: ${DEFAULT-VALUE})")
    private int turns;

    @Option(names = "--json", paramLabel = "OUT", description = "write the figures to this file as one JSON object")
    private Path json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        checkOptions();
        DeviceNotice.print(spec.commandLine().getErr());
        PrintStream out = System.out;
        List<RawBench.Row> rows = new ArrayList<>();
        String device;
        try (ServerProcess server = ServerProcess.start(Devices.library(), 3 * REGION_BYTES, REGION_BYTES);
             RawBench bench = new RawBench(server.address(), (int) REGION_BYTES)) {
            device = bench.device();
            out.printf("device %s, no model; queue depth 1, one address, hot; medians of %d turns, ns per operation%n%n", device, turns);
            out.printf("%-7s%9s%12s%18s%14s%8s%16s%8s%22s%8s%n", "op", "bytes", "C loop", "(25%..75%)", "Java verbs", "ratio",
                "Java session", "ratio", "with latency tracking", "ratio");
            for (String operation : operations) {
                for (long size : sizes) {
                    RawBench.Row row = bench.measure(operation.equals("write"), (int) size, turns);
                    rows.add(row);
                    print(out, row);
                }
            }
        }
        if (json != null) {
            Files.writeString(json, json(device, rows) + System.lineSeparator());
        }
        return 0;
    }

    private void checkOptions() {
        for (String operation : operations) {
            if (!operation.equals("read") && !operation.equals("write")) {
                throw new IllegalArgumentException("--op " + operation + ": it must be read or write");
            }
        }
        for (long size : sizes) {
            if (size < 1 || size > REGION_BYTES) {
                throw new IllegalArgumentException("--size " + size + ": it must be from 1 to " + REGION_BYTES + " bytes");
            }
        }
        if (turns < 1) {
            throw new IllegalArgumentException("--turns " + turns + ": it must be at least 1");
        }
    }

    private static void print(PrintStream out, RawBench.Row row) {
        out.printf("%-7s%,9d%12.1f%18s%14.1f%8.2f%16.1f%8.2f%22.1f%8.2f%n", row.operation(), row.size(), row.rawNanos(),
            String.format("(%.1f..%.1f)", row.rawLow(), row.rawHigh()), row.verbsNanos(), row.verbsNanos() / row.rawNanos(),
            row.sessionNanos(), row.sessionNanos() / row.rawNanos(), row.trackedNanos(), row.trackedNanos() / row.rawNanos());
    }

    private String json(String device, List<RawBench.Row> rows) {
        StringBuilder text = new StringBuilder();
        for (RawBench.Row row : rows) {
            text.append(text.isEmpty() ? "" : ", ").append(String.format(Locale.ROOT,
                "{\"op\": \"%s\", \"size\": %d, \"queue_depth\": 1, \"wrs_per_post\": 1, \"raw_p50_ns\": %.1f, \"verbs_p50_ns\": %.1f, "
                    + "\"java_p50_ns\": %.1f, \"ratio_p50\": %.3f, \"tracked_p50_ns\": %.1f, \"device\": \"%s\"}",
                row.operation(), row.size(), row.rawNanos(), row.verbsNanos(), row.sessionNanos(), row.sessionNanos() / row.rawNanos(),
                row.trackedNanos(), device));
        }
        return String.format(Locale.ROOT, "{\"device\": \"%s\", \"model\": \"none\", \"command\": \"./farheap bench raw --op %s --size %s --turns %d\", "
            + "\"rows\": [%s]}", device, String.join(",", operations), String.join(",", sizes.stream().map(String::valueOf).toList()), turns, text);
    }
}
