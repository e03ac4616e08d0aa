package io.farheap.bench.figures;

import com.google.gson.JsonObject;
import io.farheap.bench.machine.ScratchDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures figures one after the other, and stores each result as soon as it is there. If one fails, its old result
 * stays and is marked, and the others continue.
 */
final class FigureRuns {

    /** Of results of quick runs, from the root of the checkout: they are not published. */
    static final Path QUICK_DIRECTORY = Path.of("target/figures");

    /** The fields with which rows name a peer. */
    private static final List<String> PEER_FIELDS = List.of("peer", "contestant", "engine", "system");

    private final Path root;
    private final boolean quickly;
    private final PrintWriter messages;

    /** @param messages receives the name of each figure before its run, and a sentence for each trouble */
    FigureRuns(Path root, boolean quickly, PrintWriter messages) {
        this.root = root;
        this.quickly = quickly;
        this.messages = messages;
    }

    /**
     * Runs the benchmarks.
     *
     * @param commit of the checkout
     * @param dirty whether its sources differ from the commit
     * @param machine as {@link MachineRecord} has it; each result gets a copy with its loads
     * @return how many runs failed
     */
    int run(List<FigureSpec> figures, String commit, boolean dirty, JsonObject machine) throws InterruptedException {
        int failed = 0;
        for (FigureSpec figure : figures) {
            messages.println(figure.name() + ": " + figure.typed(quickly));
            messages.flush();
            try (ScratchDirectory directory = new ScratchDirectory("farheap-figure")) {
                measure(figure, commit, dirty, machine.deepCopy(), directory.path());
            } catch (FigureRunException e) {
                failed++;
                fail(figure, String.valueOf(e.getMessage()));
            } catch (IOException | RuntimeException e) {
                // Such as a full disk, or a stored file of another form: it ends this figure, and not a run of hours.
                failed++;
                fail(figure, "it could not be measured or stored: " + e);
            }
        }
        return failed;
    }

    private void measure(FigureSpec figure, String commit, boolean dirty, JsonObject machine, Path directory)
            throws IOException, InterruptedException, FigureRunException {
        MachineLoad before = MachineLoad.now();
        put(machine, "load_before", before.average());
        put(machine, "busy_before_pct", before.busyPercent());
        Instant started = Instant.now();
        JsonObject report = new FigureRun(root, figure, quickly).run(directory);
        Instant ended = Instant.now();
        MachineLoad after = MachineLoad.now();
        put(machine, "load_after", after.average());
        put(machine, "busy_after_pct", after.busyPercent());
        List<String> plots = quickly ? List.of() : publishPlots(figure, directory);
        FigureFile file = FigureFile.of(figure, quickly, started, ended, commit, dirty, machine, plots, report);
        Path results = quickly ? QUICK_DIRECTORY : FigureFile.DIRECTORY;
        file.write(root.resolve(results));
        messages.println(figure.name() + ": stored in " + results.resolve(figure.name() + ".json"));
        messages.flush();
        for (JsonObject row : file.rows()) {
            String reason = RowFilter.text(row.get("absent"));
            if (!reason.equals(RowFilter.NONE)) {
                say(figure, "a peer is absent: " + absentPeer(row) + ": " + reason);
            }
        }
    }

    private static String absentPeer(JsonObject row) {
        return PEER_FIELDS.stream()
                .map(field -> RowFilter.text(row.get(field)))
                .filter(name -> !name.equals(RowFilter.NONE))
                .findFirst()
                .orElse("its row has no name");
    }

    /** @return the plots that are there; one that is not costs no result of a long run */
    private List<String> publishPlots(FigureSpec figure, Path directory) throws IOException {
        List<String> published = new ArrayList<>();
        for (String plot : figure.plots()) {
            if (Files.exists(directory.resolve(plot))) {
                Path shown = root.resolve(PlotCheck.DIRECTORY).resolve(plot);
                Files.copy(directory.resolve(plot), shown, StandardCopyOption.REPLACE_EXISTING);
                published.add(plot);
            } else {
                say(figure, "it wrote no plot " + plot + ", which " + FigureList.FILE + " lists");
            }
        }
        return published;
    }

    private void fail(FigureSpec figure, String reason) {
        try {
            FigureFile old = quickly ? null : FigureFile.read(root, figure.name());
            if (old == null) {
                say(figure, reason);
                return;
            }
            LocalDate date = old.date();
            old.markFailed(Instant.now(), reason);
            old.write(root.resolve(FigureFile.DIRECTORY));
            say(figure, reason + "; the figure of " + date + " stays, and is marked");
        } catch (IOException | RuntimeException e) {
            say(figure, reason + "; its earlier figure stays, and cannot be marked: " + e.getMessage());
        }
    }

    private static void put(JsonObject machine, String field, double value) {
        if (!Double.isNaN(value)) {
            machine.addProperty(field, Math.round(value * 100) / 100.0);
        }
    }

    private void say(FigureSpec figure, String sentence) {
        messages.println("farheap: " + figure.name() + ": " + sentence);
        messages.flush();
    }
}
