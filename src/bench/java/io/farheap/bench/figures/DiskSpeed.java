package io.farheap.bench.figures;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Random reads of 4 KiB from the disk of a directory, past the page cache, as fio measures them. */
final class DiskSpeed {

    private static final List<String> ENGINES = List.of("io_uring", "libaio");
    private static final int DEEP = 256;
    private static final double NANOS_IN_MICRO = 1e3;

    private DiskSpeed() {}

    /**
     * Measures with one read under way, and with 256.
     *
     * @param directory an empty one, for fio's file
     * @return reads a second and mean latencies; a field {@code absent} with the reason if fio cannot measure here
     */
    static JsonObject measure(Path directory) throws IOException, InterruptedException {
        JsonObject disk = new JsonObject();
        for (String engine : ENGINES) {
            JsonObject single = reads(directory, engine, 1);
            JsonObject deep = single == null ? null : reads(directory, engine, DEEP);
            if (single != null && deep != null) {
                disk.addProperty("engine", engine);
                put(disk, 1, single);
                put(disk, DEEP, deep);
                return disk;
            }
        }
        disk.addProperty("absent", "fio is not installed (Debian: fio), or cannot read past the page cache here");
        return disk;
    }

    private static void put(JsonObject disk, int depth, JsonObject reads) {
        disk.addProperty(
                "depth_" + depth + "_reads_per_s", Math.round(reads.get("iops").getAsDouble()));
        disk.addProperty(
                "depth_" + depth + "_mean_us",
                Math.round(reads.getAsJsonObject("clat_ns").get("mean").getAsDouble() / NANOS_IN_MICRO));
    }

    private static @Nullable JsonObject reads(Path directory, String engine, int depth)
            throws IOException, InterruptedException {
        String printed = ShortCommand.output(
                directory,
                List.of(
                        "fio",
                        "--name=figures",
                        "--filename=" + directory.toAbsolutePath().resolve("fio"),
                        "--size=256m",
                        "--rw=randread",
                        "--direct=1",
                        "--norandommap",
                        "--randrepeat=0",
                        "--bs=4k",
                        "--ioengine=" + engine,
                        "--iodepth=" + depth,
                        "--time_based",
                        "--ramp_time=1s",
                        "--runtime=3s",
                        "--output-format=json"));
        if (printed == null || printed.indexOf('{') < 0) {
            return null;
        }
        try {
            return JsonParser.parseString(printed.substring(printed.indexOf('{')))
                    .getAsJsonObject()
                    .getAsJsonArray("jobs")
                    .get(0)
                    .getAsJsonObject()
                    .getAsJsonObject("read");
        } catch (JsonParseException e) {
            return null;
        }
    }
}
