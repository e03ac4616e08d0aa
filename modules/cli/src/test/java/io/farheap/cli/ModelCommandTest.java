package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.command.SubjectOptions;
import io.farheap.slo.Configuration;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The measurement and the commands that use its models, as a user runs them, on a space of four configurations. */
@Needs({Need.HOST, Need.SOFTVERBS})
class ModelCommandTest {

    private static final List<String> SMALL = List.of("--record", "4096", "--max-depth", "2", "--cores", "1");

    /** A NIC model: softverbs would end a run in which over 1% of the operations are late. */
    private static final String SLOW = "latency=1000";

    @TempDir
    private Path directory;

    private final List<CommandProcess> processes = new ArrayList<>();

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        for (CommandProcess process : processes) {
            process.kill();
            process.assertNothingIsLeft();
        }
    }

    private CommandProcess start(String settings, List<String> subject, String... arguments) throws Exception {
        CommandProcess process = CommandProcess.start(
                Map.of("SOFTVERBS", settings),
                Stream.of(
                                Stream.of(arguments),
                                subject.stream(),
                                Stream.of("--file", directory.resolve("model").toString()))
                        .flatMap(part -> part)
                        .toArray(String[]::new));
        processes.add(process);
        return process;
    }

    private String run(int exitCode, String settings, List<String> subject, String... arguments) throws Exception {
        return start(settings, subject, arguments).awaitEnd(exitCode);
    }

    @Test
    void aModelIsMeasuredOnceThenUsedForItsSubjectAlone() throws Exception {
        String first = run(0, SLOW, SMALL, "model");
        assertTrue(first.contains("now, in "), first);
        assertTrue(
                first.contains("for 4 configurations: client threads 1 to 1, batches 1 to 1, queue depths 1 to 2")
                        || first.contains(
                                "for 2 configurations: client threads 1 to 1, batches 1 to 1, queue depths 2 to 2"),
                first);
        byte[] model = Files.readAllBytes(directory.resolve("model"));

        String second = run(0, SLOW, SMALL, "model");
        assertTrue(second.contains(", 0 of them now, in "), second);
        assertEquals(new String(model, StandardCharsets.UTF_8), Files.readString(directory.resolve("model")));

        String otherDevice = run(1, "", SMALL, "model");
        assertTrue(
                otherDevice.contains(
                        "was measured with device \"soft0 (soft), latency=1000\", and the model is wanted for \"soft0 (soft)\""),
                otherDevice);
        if (Effort.isFull()) {
            String otherRecord = run(1, SLOW, List.of("--record", "2048", "--max-depth", "2", "--cores", "1"), "model");
            assertTrue(otherRecord.contains("was measured with record-bytes \"4096\""), otherRecord);
        }
    }

    /** The command starts three servers, each of a domain of its own. The test does not judge its figures. */
    @Test
    @Tag("full")
    void aModelOfCodedCachesIsMeasuredAndExplainedForItsCodeAlone() throws Exception {
        List<String> coded = with(SMALL, "--resilience", "2+1");
        String measured = run(0, SLOW, coded, "model");
        String code = "failure-recovery 2+1 Δ=1, pages of 4096 bytes";
        assertTrue(measured.contains("reads; coded, " + code), measured);
        assertTrue(measured.contains("client threads 1 to 1, batches 1 to 1, queue depths "), measured);
        String explained = run(0, SLOW, coded, "explain", "--read-latency", "1e7", "--read-rate", "0.001");
        assertTrue(explained.contains("chosen      (c 1, s 0, b 1, q "), explained);
        String other = run(1, SLOW, with(coded, "--mode", "ec-only"), "explain", "--read-latency", "1e7");
        assertTrue(other.contains("was measured with resilience \"" + code + "\""), other);
        String none = run(1, SLOW, SMALL, "explain", "--read-latency", "1e7");
        assertTrue(none.contains("and the model is wanted for \"none\""), none);
    }

    @Test
    @Tag("full")
    void aCodeThatMakesNoSenseIsRefused() throws Exception {
        assertRefused("it is K+R, such as 8+2", "--resilience", "8");
        assertRefused("r = 5 parity splits; take 0 to 4", "--resilience", "8+5");
        assertRefused("give --resilience K+R with them", "--delta", "1");
        assertRefused("--mode best: there are [failure-recovery, ", "--resilience", "8+2", "--mode", "best");
        assertRefused("has 3 servers; name as many", "--resilience", "2+1", "--server", "127.0.0.1:1,127.0.0.1:2");
        assertRefused("has 1 server; name as many", "--server", "127.0.0.1:1,127.0.0.1:2");
    }

    @Test
    @Tag("full")
    void aRecordThatTheCacheHasNoRoomForIsRefused() throws Exception {
        String refused = run(1, SLOW, List.of("--record", "67108865", "--max-depth", "2", "--cores", "1"), "model");
        assertTrue(refused.contains("records of 67108865 bytes in a cache of 67108864 bytes"), refused);
    }

    private void assertRefused(String why, String... options) throws Exception {
        String refused = run(1, SLOW, with(SMALL, options), "model");
        assertTrue(refused.contains(why), refused);
    }

    private static List<String> with(List<String> subject, String... more) {
        return Stream.concat(subject.stream(), Stream.of(more)).toList();
    }

    /**
     * Writes a model that does not depend on this machine: every objective between its figures can be met, and the test
     * knows by which configuration.
     */
    private void writeModel() throws Exception {
        writeModel("model", 0, 1);
    }

    /** @param slower factor by which the latencies are higher */
    private void writeModel(String name, int switches, double slower) throws Exception {
        ModelSubject here;
        try (Context context = Devices.open()) {
            here = CommandLine.populateCommand(new SubjectOptions(), SMALL.toArray(String[]::new))
                    .subject(context);
        }
        ModelSubject subject = new ModelSubject(
                "soft0 (soft), " + SLOW,
                here.hardware(),
                switches,
                here.recordBytes(),
                here.readPercent(),
                here.clientCores(),
                here.deviceDepth());
        try (ModelFile file = ModelFile.open(directory.resolve(name), subject)) {
            while (!file.plan().complete()) {
                Configuration configuration = file.plan().next();
                boolean best = configuration.serverThreads() == 1 && configuration.queueDepth() == 2;
                double perSecond = 1e5 * configuration.queueDepth();
                file.record(
                        best
                                ? new Performance(2_000 * slower, 4e5, 2_000 * slower, 4e5)
                                : new Performance(
                                        4_000 * slower * configuration.queueDepth(),
                                        perSecond,
                                        4_000 * slower * configuration.queueDepth(),
                                        perSecond));
            }
        }
    }

    @Test
    void anObjectiveIsExplained() throws Exception {
        writeModel();
        String explained = run(0, SLOW, SMALL, "explain", "--read-latency", "1e7", "--read-rate", "0.001");
        assertTrue(explained.contains("chosen      (c 1, s 0, b 1, q 1)"), explained);
        assertTrue(explained.contains("rests on    measured figures alone"), explained);
        assertTrue(explained.contains("margin      10.0%"), explained);
        assertTrue(explained.contains("cost        0 server threads, 1 client threads"), explained);
        String infeasible = run(1, SLOW, SMALL, "explain", "--write-latency", "0.001");
        assertTrue(infeasible.contains("farheap: no configuration with up to 1 client threads"), infeasible);
        assertTrue(infeasible.contains("with latencies relaxed by a factor of"), infeasible);
    }

    @Test
    @Tag("full")
    void aMenuIsExplainedForEachDistance() throws Exception {
        writeModel("rack", 1, 1);
        writeModel("cluster", 3, 2);
        Path menu = Files.writeString(directory.resolve("menu"), """
                {"types": [{"name": "m16", "cores": 16, "memory": "64g", "price": 0.8, "spot_price": 0.2},
                           {"name": "near", "cores": 2, "memory": "64g", "price": 0.4, "place": "d/c/r"},
                           {"name": "stranded", "memory": "1t", "price": 0.1, "place": "d/c"}]}""");
        List<String> models = List.of(
                "--models", directory.resolve("rack") + "," + directory.resolve("cluster"), "--capacity", "32g");
        String found = run(0, SLOW, models, "explain", "--menu", menu.toString(), "--place", "d/c/r2");
        List<String> lines =
                found.lines().map(line -> line.replaceAll(" +", " ")).toList();
        // The cache takes half of a machine's memory. The model's best configuration has one server thread.
        assertTrue(
                lines.contains("latency (c 1, s 1, b 1, q 2) 2.0 us 0.800 M/s m16 for 0.4000, as spot for 0.1000"),
                found);
        assertTrue(lines.contains("latency (c 1, s 1, b 1, q 2) 4.0 us 0.800 M/s near for 0.2000"), found);
        assertTrue(found.contains("1 switch    " + directory.resolve("rack")), found);
        assertTrue(found.contains("3 switches  " + directory.resolve("cluster")), found);
        assertTrue(found.contains("5 switches  there is no model"), found);
        String twice = run(
                1,
                SLOW,
                List.of("--models", directory.resolve("rack") + "," + directory.resolve("rack")),
                "explain",
                "--menu",
                menu.toString());
        assertTrue(twice.contains("are both over 1 switches; name one for each distance"), twice);
        String both = run(1, SLOW, models, "explain", "--menu", menu.toString(), "--read-latency", "5");
        assertTrue(both.contains("farheap: --menu takes no objective"), both);
        writeModel();
        String here = run(0, SLOW, SMALL, "explain", "--menu", menu.toString());
        assertTrue(here.contains("5 switches  " + directory.resolve("model")), here);
        assertTrue(here.contains("measured on one host"), here);
    }

    @Test
    @Tag("full")
    void objectivesAreDrawnAndMeasured() throws Exception {
        writeModel();
        String nothing = run(1, SLOW, SMALL, "bench", "slo", "--count", "2", "--margin", "1e9");
        assertTrue(nothing.contains("farheap: --margin 1.0E9: of 200 objectives"), nothing);

        Path json = directory.resolve("slo.json");
        run(
                0,
                SLOW,
                SMALL,
                "bench",
                "slo",
                "--count",
                "2",
                "--margin",
                "0",
                "--turns",
                "1",
                "--json",
                json.toString(),
                "--report",
                directory.resolve("report").toString());
        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        for (String field : List.of(
                "count",
                "feasible",
                "latency_met",
                "throughput_met",
                "search_us_p50",
                "search_us_max",
                "device",
                "model",
                "command",
                "distinct_configurations",
                "fixed_baseline_met")) {
            assertTrue(report.has(field) && !report.get(field).isJsonNull(), () -> field + " in " + report);
        }
        assertEquals(2, report.get("count").getAsInt());
        assertEquals(2, report.get("feasible").getAsInt());
        assertEquals(2, report.getAsJsonArray("rows").size());
        assertEquals(0, report.get("model_measurements_now").getAsInt());
        // On a machine that is busy all rows may be invalid: then there is nothing to compare, and nothing to plot.
        boolean compared = report.get("invalid_rows").getAsInt() < 2;
        for (String error :
                List.of("latency_error_p50", "latency_error_p95", "throughput_error_p50", "throughput_error_p95")) {
            assertEquals(compared, !report.get(error).isJsonNull(), () -> error + " in " + report);
        }
        for (String plot : List.of("slo-latency.png", "slo-throughput.png")) {
            assertEquals(compared, Files.exists(directory.resolve("report").resolve(plot)), plot);
        }
    }

    @Test
    @Tag("full")
    void oneThatWasKilledGoesOnWhereItWas() throws Exception {
        CommandProcess killed = start("", List.of("--record", "2048", "--max-depth", "4", "--cores", "1"), "model");
        Path model = directory.resolve("model");
        while (!Files.exists(model) || Files.readAllLines(model).size() < 9) {
            Thread.sleep(20);
        }
        killed.kill();
        killed.assertNothingIsLeft();
        List<String> before = Files.readAllLines(model);
        String output = run(0, "", List.of("--record", "2048", "--max-depth", "4", "--cores", "1"), "model");
        List<String> after = Files.readAllLines(model);
        assertTrue(after.getLast().startsWith("complete "), output);
        // A line that was being written may be lost.
        assertEquals(before.subList(0, 9), after.subList(0, 9));
    }

    @Test
    @Tag("full")
    void whatMakesNoSenseIsOneSentence() throws Exception {
        String none = run(1, "", SMALL, "explain");
        assertTrue(none.contains("farheap: no objective: give at least one of"), none);
        String missing = run(1, "", SMALL, "explain", "--read-latency", "5");
        assertTrue(missing.contains("farheap: there is no model "), missing);
        String deep = run(1, "model=connectx5", List.of("--max-depth", "99"), "model");
        assertTrue(deep.contains("farheap: --max-depth 99: soft0 takes up to 14"), deep);
    }
}
