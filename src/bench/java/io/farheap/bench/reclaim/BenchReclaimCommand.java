package io.farheap.bench.reclaim;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.machine.Memcpy;
import io.farheap.bench.move.MoveCase;
import io.farheap.bench.move.MoveFigures;
import io.farheap.bench.move.MoveOptions;
import io.farheap.bench.move.MovePlots;
import io.farheap.bench.move.RecordContent;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Durations;
import io.farheap.command.ManagerProcess;
import io.farheap.command.Plot;
import io.farheap.lifetime.CloseStack;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code farheap bench reclaim}: measures how a load is affected by memory servers that leave (Redy, figures 15 and
 * 16).
 */
@Command(
        name = "reclaim",
        mixinStandardHelpOptions = true,
        description = {
            "Let memory servers leave a cache under load: SIGTERM, the manager's alert, the move, and the server's end.",
            "The load and the ways to move are those of 'bench migration'. In each turn there are a quiet time, a memcpy of as many bytes, a bare "
                    + "migration of the same regions between two such servers, and the reclaim, after which every byte is checked: in an order "
                    + "that rotates. All cases take turns, too. GiB/s is from the signal to the last release; the bare migration's is of its copy alone. "
                    + "Medians over turns, and ratios of medians."
        })
public final class BenchReclaimCommand implements Callable<Integer> {

    private static final int REPEAT = ReclaimBench.WINDOWS;
    private static final int DEADLINE_REPEAT = 100;
    private static final Duration NOTICE = Duration.ofSeconds(30);

    @Mixin
    private MoveOptions move;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            description = "reclaims of each case, rounded up to a multiple of " + ReclaimBench.WINDOWS + " (default: "
                    + REPEAT + ", with --deadline as many as named; default: " + DEADLINE_REPEAT + ")")
    private @Nullable Integer repeat;

    @Option(
            names = "--notice",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "notice of the servers, after which they are killed (default: 30s)")
    private @Nullable Duration notice;

    @Option(
            names = "--deadline",
            description =
                    "SIGKILL to each server at the end of its notice, under writes, without the bare migrations; prints "
                            + "how many reclaims have lost something. One case: the library's own way, with the last number of regions of --move")
    private boolean deadline;

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    private final PrintStream out = System.out;

    @Override
    public Integer call() throws IOException {
        output.check();
        move.check();
        if (repeat != null && repeat < 1) {
            throw new IllegalArgumentException("--repeat " + repeat + ": it must be at least 1");
        }
        if (notice != null && notice.toMillis() < 1) {
            throw new IllegalArgumentException("--notice " + notice.toMillis() + "ms: it must be at least 1ms");
        }
        DeviceNotice.print(spec.commandLine().getErr());
        try (CloseStack opened = new CloseStack()) {
            ManagerProcess manager = opened.add(ManagerProcess.start(Devices.library(), "127.0.0.1:0", "--temporary"));
            ManagerClient asked = opened.add(ManagerClient.connect(manager.address()));
            RecordContent content = opened.add(new RecordContent(move.bytes()));
            TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
            out.println(note.sentence());
            BenchReport report = deadline
                    ? deadlines(manager, asked, content)
                    : cases(manager, asked, content, opened.add(new Memcpy(move.regionBytes())));
            note.put(report);
            output.write(report, output.plots() ? plots.plots("reclaim", "servers leave") : new Plot[0]);
        }
        // A loss is a result: the run has succeeded, and its report is written and can be published.
        ReclaimFigures.warning(measured.toArray(ReclaimFigures[]::new))
                .ifPresent(warning -> spec.commandLine().getErr().println(warning));
        return 0;
    }

    private final MovePlots plots = new MovePlots();
    private final List<ReclaimFigures> measured = new ArrayList<>();

    /** The figures of a case under both loads. */
    private record CaseFigures(MoveCase how, ReclaimFigures reads, ReclaimFigures writes) {

        static CaseFigures of(MoveCase how) {
            return new CaseFigures(how, new ReclaimFigures(), new ReclaimFigures());
        }
    }

    /** All cases take turns, each turn with servers and a cache of its own, in an order that rotates. */
    private BenchReport cases(ManagerProcess manager, ManagerClient asked, RecordContent content, Memcpy memcpy) {
        List<CaseFigures> cases = move.cases().stream().map(CaseFigures::of).toList();
        // Classes are loaded and compiled in a turn that does not count.
        CaseFigures warmUp = CaseFigures.of(move.usual());
        BenchReport report = turn(manager, asked, content, memcpy, warmUp, -1);
        // Its times do not count, but a loss would.
        measured.addAll(List.of(warmUp.reads(), warmUp.writes()));
        report.origin().forEach(out::println);
        int turns = turns(repeat);
        Rotation rotation = new Rotation(cases.size(), turns);
        for (int turn = 0; turn < turns; turn++) {
            for (int place : rotation.order(turn)) {
                turn(manager, asked, content, memcpy, cases.get(place), turn);
            }
        }
        printTitles();
        for (CaseFigures of : cases) {
            ReclaimFigures reads = of.reads();
            ReclaimFigures writes = of.writes();
            MoveFigures readMoves = reads.turns().figures();
            MoveFigures writeMoves = writes.turns().figures();
            print(of.how(), reads, writes, readMoves, writeMoves);
            plots.add(of.how(), readMoves, writeMoves);
            ReclaimFigures.put(
                    MoveFigures.row(report, of.how(), move.regionBytes(), readMoves, writeMoves), reads, writes);
            measured.add(reads);
            measured.add(writes);
        }
        return report;
    }

    /** @param wanted null for the usual number */
    static int turns(@Nullable Integer wanted) {
        return Rotation.turns(ReclaimBench.WINDOWS, wanted == null ? REPEAT : wanted);
    }

    /** @return a new report of the turn's device */
    private BenchReport turn(
            ManagerProcess manager,
            ManagerClient asked,
            RecordContent content,
            Memcpy memcpy,
            CaseFigures of,
            int turn) {
        Duration within = notice == null ? NOTICE : notice;
        try (ReclaimRig rig = new ReclaimRig(manager, asked, move, of.how(), within)) {
            content.fill(rig.cache());
            // Which load comes first alternates.
            boolean writesFirst = Math.floorMod(turn, 2) == 1;
            for (boolean write : new boolean[] {writesFirst, !writesFirst}) {
                new ReclaimBench(rig, of.how(), content, memcpy, turns(repeat))
                        .run(write, turn, write ? of.writes() : of.reads());
            }
            return output.report(spec, rig.cache().context());
        }
    }

    private void printTitles() {
        out.printf(
                "%n%-8s%-8s%-9s%32s%32s%8s%8s%8s%10s  | ms, reads, writes:%7s%8s%8s%8s%9s%8s%9s%n",
                "regions",
                "pause",
                "reads",
                "read drop % (bare, memcpy)",
                "write drop % (bare, memcpy)",
                "GiB/s",
                "bare",
                "ratio",
                "lost",
                "notice",
                "alert",
                "move",
                "(copy)",
                "release",
                "in all",
                "then end");
    }

    private void print(
            MoveCase how, ReclaimFigures reads, ReclaimFigures writes, MoveFigures readMoves, MoveFigures writeMoves) {
        boolean none = how.move() == 0;
        out.printf(
                "%-8d%-8s%-9s%32s%32s%8s%8s%8s%10d  |  %s%n",
                how.move(),
                how.name(),
                how.reads(),
                drop(readMoves, reads, none),
                drop(writeMoves, writes, none),
                none ? "" : "%.2f".formatted(MoveFigures.gib(readMoves, writeMoves)),
                none ? "" : "%.2f".formatted(ReclaimFigures.mean(reads.bareGib(), writes.bareGib())),
                none ? "" : number("%.2f", ReclaimFigures.mean(reads.ratio(), writes.ratio())),
                reads.lost() + writes.lost(),
                MoveFigures.remark(readMoves, writeMoves));
        if (!none) {
            out.printf(
                    "%153s%s%n%153s%s%n",
                    "| under reads:      ", reads.phases(), "| under writes:     ", writes.phases());
        }
    }

    private static String drop(MoveFigures moves, ReclaimFigures reclaims, boolean none) {
        String memcpy = number("%.1f", moves.memcpyDropPercent());
        String beside = none ? memcpy : number("%.1f", reclaims.bareDropPercent()) + ", " + memcpy;
        return number("%.1f", moves.dropPercent()) + " (" + beside + ")";
    }

    private static String number(String format, double value) {
        return Double.isNaN(value) ? "-" : format.formatted(value);
    }

    private BenchReport deadlines(ManagerProcess manager, ManagerClient asked, RecordContent content) {
        Duration within = notice == null ? NOTICE : notice;
        int count = repeat == null ? DEADLINE_REPEAT : repeat;
        MoveCase how = move.usual();
        DeadlineReclaims reclaims = new DeadlineReclaims(manager, asked, move, how, within, content);
        ReclaimFigures figures = reclaims.run(count);
        BenchReport report = output.report(spec, reclaims.device());
        report.origin().forEach(out::println);
        out.printf(
                "%n%d reclaims of %d regions of %,d bytes, SIGKILL %d ms after SIGTERM: %d lost something (%,d bytes), %d "
                        + "servers had to be killed; the longest took %.1f ms%n",
                figures.reclaims(),
                how.move(),
                move.regionBytes(),
                within.toMillis(),
                figures.lossy(),
                figures.lost(),
                figures.killed(),
                figures.longestMillis());
        out.printf("ms:%7s%8s%8s%8s%9s%8s%9s%n", "notice", "alert", "move", "(copy)", "release", "in all", "then end");
        out.println("  " + figures.phases());
        BenchReport.Row row = report.row()
                .put("regions", (long) how.move())
                .put("unpaused_reads", how.options().unpausedReads())
                .put("pause", how.name())
                .put("region_bytes", move.regionBytes())
                .put("notice_limit_ms", within.toMillis());
        figures.putDeadline(row);
        measured.add(figures);
        return report;
    }
}
