package io.farheap.bench.against;

import java.util.List;
import java.util.stream.Stream;

/** The rows and figures of each benchmark that {@code --against} compares. */
public final class ComparedRows {

    public static final RowShape RAW = new RowShape(
            List.of("op", "size", "queue_depth", "wrs_per_post"),
            Stream.of("java_p50_ns", "verbs_p50_ns", "untracked_p50_ns", "java_p99_ns")
                    .map(Figure::time)
                    .flatMap(figure -> Stream.of(figure, figure.over("raw_p50_ns", "C")))
                    .toList());

    public static final RowShape RAW_REGIONS =
            new RowShape(List.of("op", "size", "regions", "sessions"), List.of(Figure.time("session_p50_ns")));

    public static final RowShape CACHE = new RowShape(
            List.of("op", "size", "span"),
            List.of(
                    Figure.time("p50_ns"),
                    Figure.time("p99_ns"),
                    Figure.time("p999_ns"),
                    Figure.time("max_ns"),
                    Figure.rate("ops_per_s"),
                    Figure.rate("list_ops_per_s"),
                    Figure.rate("list_all_ops_per_s"),
                    Figure.rate("batched_ops_per_s"),
                    Figure.rate("batched_all_ops_per_s"),
                    Figure.time("batched_in_flight_us")));

    public static final RowShape MIGRATION = new RowShape(
            List.of("regions", "pause", "unpaused_reads", "region_bytes"),
            List.of(
                    Figure.drop("read_drop_pct"),
                    Figure.drop("write_drop_pct"),
                    Figure.rate("gib_per_s"),
                    Figure.rate("gib_per_s").over("memcpy_gib_per_s", "memcpy"),
                    Figure.time("migration_ms"),
                    Figure.time("longest_read_stall_us"),
                    Figure.time("longest_write_pause_us"),
                    Figure.time("worst_read_stall_us"),
                    Figure.time("worst_write_pause_us"),
                    Figure.rate("reads_per_s"),
                    Figure.rate("writes_per_s")));

    public static final RowShape KV = new RowShape(
            List.of(
                    "part",
                    "engine",
                    "workload",
                    "operation",
                    "keys",
                    "sessions",
                    "case",
                    "trace",
                    "objects",
                    "policy",
                    "clients",
                    "miss_ns",
                    "load",
                    "variant",
                    "phase",
                    "bytes",
                    "get_pct",
                    "value_bytes",
                    "term",
                    "queues",
                    "kind"),
            List.of(
                    Figure.time("p50_ns"),
                    Figure.time("p50_ns").over("floor_p50_ns", "floor"),
                    Figure.time("p99_ns"),
                    Figure.time("p999_ns"),
                    Figure.time("max_ns"),
                    Figure.rate("ops_per_s"),
                    Figure.rate("ops_per_s").over("floor_ops_per_s", "floor"),
                    Figure.time("ns_of_key"),
                    Figure.time("single_ns"),
                    Figure.rate("hit_pct"),
                    Figure.time("milliseconds")));

    public static final RowShape PROCEDURE = new RowShape(
            List.of("op", "depth", "span", "system", "computed"),
            List.of(
                    Figure.time("call_p50_ns"),
                    Figure.time("call_p50_ns").over("read_p50_ns", "reads"),
                    Figure.time("call_p99_ns"),
                    Figure.time("call_p999_ns"),
                    Figure.time("read_p50_ns"),
                    Figure.rate("calls_per_s"),
                    Figure.rate("reads_per_s"),
                    Figure.rate("straight_calls_per_s"),
                    Figure.rate("quiet_calls_per_s"),
                    Figure.time("p99_ns"),
                    Figure.time("longest_stall_us")));

    public static final RowShape STORE = new RowShape(
            List.of("part", "commit", "bytes", "kind", "index_in_checkpoint", "records"),
            List.of(
                    Figure.time("p50_ns"),
                    Figure.time("p99_ns"),
                    Figure.time("p999_ns"),
                    Figure.time("max_ns"),
                    Figure.rate("quiet_ops_per_s"),
                    Figure.rate("ops_per_s"),
                    Figure.time("checkpoint_ms"),
                    Figure.time("recovery_ms"),
                    Figure.time("recovery_ms").over("sequential_ms", "sequential"),
                    Figure.rate("before_ops_per_s"),
                    Figure.rate("lost_ops_per_s"),
                    Figure.rate("after_ops_per_s"),
                    Figure.time("fill_ms")));

    public static final RowShape RESILIENCE = new RowShape(
            List.of("system", "mode", "k", "r", "delta", "op", "size", "fault"),
            List.of(
                    Figure.time("p50_ns"),
                    Figure.time("ratio_p50"),
                    Figure.time("p99_ns"),
                    Figure.time("p999_ns"),
                    Figure.time("cpu_ns"),
                    Figure.time("stall_us"),
                    Figure.time("regenerate_ms")));

    private ComparedRows() {}
}
