package io.farheap.cli;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.SubjectOptions;
import io.farheap.slo.Configuration;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/**
 * Each {@code farheap bench} command once, as small as possible: it succeeds, loses nothing, and its rows have the
 * expected fields. Each command's other options have a test of their own, in the suite's full form.
 */
@Needs({Need.SOFTVERBS, Need.HOST})
class BenchCommandsTest {

    /** Counts that must be 0. */
    private static final Set<String> NONE = Set.of(
            "wrong_bytes",
            "unread_pages",
            "lost",
            "corrupt",
            "failed",
            "lost_bytes",
            "lost_reclaims",
            "lost_regions",
            "failed_requests",
            "killed");

    /**
     * The smallest run of a command.
     *
     * @param arguments in which DIR stands for a directory of the test
     * @param rows counts by fields, in this order: a field with ? may be null, and * stands for further fields
     */
    private record Smallest(String arguments, Map<String, Integer> rows) {

        private Smallest(String arguments, int count, String fields) {
            this(arguments, Map.of(fields, count));
        }
    }

    private static final String MOVES =
            "regions unpaused_reads pause region_bytes chunk_bytes window_bytes read_drop_pct write_drop_pct memcpy_read_drop_pct memcpy_write_drop_pct gib_per_s? memcpy_gib_per_s migration_ms longest_read_stall_us longest_write_pause_us worst_read_stall_us worst_write_pause_us quiet_read_stall_us quiet_write_stall_us reads_per_s writes_per_s read_drop_pct_p25 read_drop_pct_p75 write_drop_pct_p25 write_drop_pct_p75 whole_gib_per_s? read_whole_gib_per_s_p25? read_whole_gib_per_s_p75? write_whole_gib_per_s_p25? write_whole_gib_per_s_p75? whole_over_memcpy? forgone_reads memcpy_forgone_reads forgone_reads_over_memcpy? forgone_writes memcpy_forgone_writes forgone_writes_over_memcpy? bytes_local cores in_flight group memcpy_bytes_local memcpy_cores memcpy_in_flight memcpy_group settled late_pct invalid first_migration_ms";

    private static final Map<String, Smallest> SMALLEST = Map.ofEntries(
            entry(
                    "raw",
                    new Smallest(
                            "--op read --size 8 --queue-depth 1 --turns 1",
                            1,
                            "op size queue_depth wrs_per_post raw_p50_ns java_p50_ns ratio_p50 raw_ops_per_s java_ops_per_s ratio_ops raw_p99_ns java_p99_ns raw_p25_ns raw_p75_ns verbs_p50_ns session_p50_ns untracked_p50_ns device verbs_p25_ns verbs_p75_ns session_p25_ns session_p75_ns untracked_p25_ns untracked_p75_ns bytes_local cores in_flight group settled late_pct invalid")),
            entry(
                    "cache",
                    new Smallest(
                            "--op read --size 16 --batch 8 --seconds 0.001",
                            1,
                            "op size span p50_ns p99_ns p999_ns max_ns p999_over_p50 idle_p999_ns idle_max_ns ops_per_s list_ops_per_s queue_depth batch batches batched_ops_per_s batched_over_single batched_all_ops_per_s batched_all_over_single batched_in_flight_us ops_per_s_p25 ops_per_s_p75 list_ops_per_s_p25 list_ops_per_s_p75 list_over_single list_all_ops_per_s list_all_ops_per_s_p25 list_all_ops_per_s_p75 list_all_over_single list_all_over_list list_all_group bytes_local cores in_flight group list_group batched_ops_per_s_p25 batched_ops_per_s_p75 batched_over_list batched_over_best batched_all_ops_per_s_p25 batched_all_ops_per_s_p75 batched_all_over_list batched_all_over_best batched_all_over_list_all batched_bytes_local batched_cores batched_in_flight batched_group batched_all_group turns settled late_pct invalid")),
            entry(
                    "ablation",
                    new Smallest(
                            "--op read --turns 1 --seconds 0.001 --span 1m",
                            8,
                            "op size span step issued_by one_sided queue_depth pinned inline_bytes outstanding p50_ns p99_ns ops_per_s p50_ns_p25 p50_ns_p75 p99_ns_p25 p99_ns_p75 ops_per_s_p25 ops_per_s_p75 over_above? bytes_local cores in_flight group turns settled late_pct? invalid")),
            entry(
                    "peers",
                    new Smallest(
                            "--op get --size 8 --rounds 1 --turn 1ms --directory DIR",
                            Map.of(
                                    "op size peer p50_ns p25_ns p75_ns p99_ns ratio_to_farheap? turns threads bytes_local cores in_flight group settled late_pct invalid",
                                    5,
                                    "peer absent",
                                    10))),
            entry(
                    "search",
                    new Smallest(
                            "--cores 2 --record 1024 --count 1 --models 1 --noise 0",
                            2,
                            "noise draw seed models configurations measured_max count feasible exact_mean_us exact_max_us exact_max_cpu_us exact_leaves paper_mean_us paper_max_us paper_max_cpu_us paper_leaves paper_missed paper_dearer paper_other refusal_mean_cpu_us? refusal_max_cpu_us? exact_p50_us exact_p25_us exact_p75_us paper_p50_us paper_p25_us paper_p75_us bytes_local cores in_flight group paper_bytes_local paper_cores paper_in_flight paper_group settled late_pct invalid")),
            entry(
                    "slo",
                    new Smallest(
                            "--record 4096 --max-depth 2 --cores 1 --count 1 --margin 0 --turns 1 --file DIR/model",
                            1,
                            "c s b q asked_latency_ns predicted_latency_ns real_latency_ns asked_ops_per_s predicted_ops_per_s real_ops_per_s latency_met throughput_met latency_error throughput_error search_us core_round_trip_ns real_latency_ns_p25 real_latency_ns_p75 real_ops_per_s_p25 real_ops_per_s_p75 bytes_local cores in_flight group turns settled late_pct invalid")),
            entry(
                    "migration",
                    new Smallest(
                            "--regions 1 --region 64k --move 1 --pause chunk --unpaused-reads true --repeat 1",
                            2,
                            MOVES)),
            entry(
                    "reclaim",
                    new Smallest(
                            "--regions 1 --region 64k --move 1 --deadline --repeat 1 --notice "
                                    + TestDevice.patience(60) + "s",
                            1,
                            "regions unpaused_reads pause region_bytes notice_limit_ms reclaims lost_reclaims lost_bytes killed notice_ms alert_ms copy_ms move_ms release_ms end_ms reclaim_ms longest_reclaim_ms gib_per_s lost_regions failed_requests")),
            entry(
                    "resize",
                    new Smallest(
                            "--regions 1 --more 1 --region 64k --resizes 2 --repeat 1",
                            2,
                            "op ratio least_ratio most_ratio same least_same most_same resize_ms longest_us longest_median_us quiet_longest_us quiet_longest_median_us ops_per_s ops_per_s_p25 ops_per_s_p75 quiet_ops_per_s quiet_ops_per_s_p25 quiet_ops_per_s_p75 bytes_local cores in_flight group quiet_bytes_local quiet_cores quiet_in_flight quiet_group settled late_pct invalid")),
            entry(
                    "manager",
                    new Smallest(
                            "--servers 1 --caches 1 --clients 1 --callers 1 --allocations 1 --repeat 1 --data DIR",
                            1,
                            "allocations_per_s deallocations_per_s caches_per_write reports_per_s zookeeper_single_writes_per_s zookeeper_multi_writes_per_s leader_change_ms bytes_local cores in_flight group zookeeper_single_bytes_local zookeeper_single_cores zookeeper_single_in_flight zookeeper_single_group zookeeper_multi_bytes_local zookeeper_multi_cores zookeeper_multi_in_flight zookeeper_multi_group settled late_pct invalid")),
            entry(
                    "kv",
                    new Smallest(
                            "--trace DIR/trace --objects 2 --policy lru --clients 1",
                            1,
                            "part trace objects policy clients requests hits hit_pct reads writes cas faa hit_pct_p25 hit_pct_p75 hit_pct_least hit_pct_most plays")),
            entry(
                    "resilience",
                    new Smallest(
                            "--k 1 --r 1 --bytes 16k --turns 1 --seconds 0.001",
                            12,
                            "system mode k r delta op size fault p50_ns p99_ns p999_ns ratio_p50 ratio_p99 cpu_ns cpu_overhead ratio_p99_to_none? memory_overhead loss_probability wire_overhead wrong_bytes unread_pages stall_us regenerate_ms? regenerate_times regeneration_bytes_read regeneration_bytes_rebuilt regeneration_bytes_by_servers requests lost corrupt *")),
            entry(
                    "procedure",
                    new Smallest(
                            "--op chase,rate --depth 1 --span 64k --repeat 1 --millis 1",
                            Map.of(
                                    "op depth span call_p50_ns read_p50_ns ratio_p50 call_p99_ns call_p999_ns call_max_ns settled late_pct invalid computed put_off_share",
                                    1,
                                    "op depth span calls_per_s reads_per_s ratio_ops least_ratio_ops most_ratio_ops settled late_pct invalid computed",
                                    2))),
            entry(
                    "ycsb",
                    new Smallest(
                            "--records 1000 --contestants far,file,rocksdb --threads 1 --rounds 1 --turn 1ms --directory DIR",
                            Map.of(
                                    "figure contestant workload distribution records value threads local_share far_share index_bytes ops_per_s ops_per_s_least ops_per_s_most p50_ns p99_ns p999_ns max_ns pending_share ios_per_read bytes_per_op bounded engine device model bytes_local same_memory in_flight group cores ops_per_s_p25 ops_per_s_p75 settled late_pct invalid",
                                    6,
                                    "figure contestant absent",
                                    1))),
            entry(
                    "store",
                    new Smallest(
                            "--part append,checkpoint,recovery,loss --records 10000 --repeat 1 --turn 1ms --directory DIR",
                            Map.of(
                                    "part commit bytes appends p50_ns p99_ns p999_ns max_ns ratio_to_far? device p50_ns_p25 p50_ns_p75 bytes_local cores in_flight group settled late_pct invalid",
                                    3,
                                    "part kind records quiet_ops_per_s ops_per_s ratio? ratio_least? ratio_most? checkpoint_ms bytes_local cores in_flight group quiet_bytes_local quiet_cores quiet_in_flight quiet_group ops_per_s_p25 ops_per_s_p75 quiet_ops_per_s_p25 quiet_ops_per_s_p75 settled late_pct invalid log_bytes log_bytes_in_memory all_local",
                                    3,
                                    "part index_in_checkpoint records log_bytes recovery_ms sequential_ms ratio ratio_least ratio_most bytes_local cores in_flight group sequential_bytes_local sequential_cores sequential_in_flight sequential_group sequential_ms_p25 sequential_ms_p75 recovery_ms_p25 recovery_ms_p75 settled late_pct invalid",
                                    2,
                                    "part records before_ops_per_s lost_ops_per_s after_ops_per_s ratio? filled_bytes fill_ms failed bytes_local cores in_flight group settled late_pct invalid",
                                    1))));

    @TempDir
    private Path directory;

    static Set<String> commands() {
        return Main.commandLine().getSubcommands().get("bench").getSubcommands().keySet();
    }

    @ParameterizedTest
    @MethodSource("commands")
    void itsRowsAreThere(String command) throws Exception {
        Smallest smallest = SMALLEST.get(command);
        assertNotNull(smallest, "bench " + command + " has no smallest arguments here");
        prepare(command);
        Path json = directory.resolve("report.json");
        List<String> arguments = new ArrayList<>(List.of("bench", command, "--json", json.toString()));
        arguments.addAll(
                List.of(smallest.arguments.replace("DIR", directory.toString()).split(" ")));
        if (command.equals("peers")) {
            // The command must not find the programs that this machine has installed.
            CommandProcess process = CommandProcess.start(Map.of("PATH", "/nowhere"), arguments.toArray(String[]::new));
            process.awaitEnd(0);
            process.assertNothingIsLeft();
        } else {
            assertEquals(0, Main.commandLine().execute(arguments.toArray(String[]::new)));
        }
        Figures report = Figures.read(json);
        checkOrigin(report, command);
        Map<String, Integer> found = report.rows().stream()
                .collect(Collectors.toMap(row -> check(row, smallest.rows.keySet()), _ -> 1, Integer::sum));
        assertEquals(smallest.rows, found, report::toString);
    }

    /** Writes the files that a command reads. */
    private void prepare(String command) throws IOException {
        switch (command) {
            case "kv" -> Files.writeString(directory.resolve("trace"), "0\n1\n2\n0\n1\n");
            case "slo" -> writeModel();
            default -> {}
        }
    }

    /** Writes a model in which one best configuration meets any objective, because measuring a model takes long. */
    private void writeModel() throws IOException {
        ModelSubject subject;
        try (Context context = Devices.open()) {
            subject = CommandLine.populateCommand(
                            new SubjectOptions(), "--record", "4096", "--max-depth", "2", "--cores", "1")
                    .subject(context);
        }
        try (ModelFile file = ModelFile.open(directory.resolve("model"), subject)) {
            while (!file.plan().complete()) {
                Configuration configuration = file.plan().next();
                boolean best = configuration.serverThreads() == 1 && configuration.queueDepth() == 2;
                file.record(best ? new Performance(2_000, 4e5, 2_000, 4e5) : new Performance(4_000, 1e5, 4_000, 1e5));
            }
        }
    }

    private static void checkOrigin(Figures report, String command) {
        for (String field : List.of("device", "model")) {
            assertFalse(report.text(field).isEmpty(), report::toString);
        }
        assertTrue(report.count("cores") > 0, report::toString);
        assertTrue(report.text("command").contains("bench " + command), report::toString);
        assertFalse(report.text("command").contains("--json"), report::toString);
    }

    /** @return the one of the expected lists of fields that the row matches */
    private static String check(Figures row, Set<String> expected) {
        List<String> names = List.copyOf(row.fields().keySet());
        String fields = expected.stream()
                .filter(one -> matches(one, names))
                .findFirst()
                .orElseThrow(() -> new AssertionError("these fields are no row's here: " + row));
        List<String> mayBeNone =
                Stream.of(fields.split(" ")).filter(name -> name.endsWith("?")).toList();
        boolean more = fields.endsWith("*");
        for (String name : names) {
            boolean listed = !more || List.of(plain(fields)).contains(name);
            assertTrue(
                    !row.fields().get(name).isJsonNull() || !listed || mayBeNone.contains(name + "?"),
                    () -> name + " of " + row);
            if (NONE.contains(name)) {
                row.assertCount(0, name);
            }
        }
        if (row.has("absent")) {
            assertFalse(row.text("absent").isEmpty(), row::toString);
        }
        return fields;
    }

    private static boolean matches(String fields, List<String> names) {
        List<String> listed = List.of(plain(fields));
        return fields.endsWith("*")
                ? names.size() >= listed.size()
                        && names.subList(0, listed.size()).equals(listed)
                : names.equals(listed);
    }

    private static String[] plain(String fields) {
        return fields.replace("?", "").replace(" *", "").split(" ");
    }
}
