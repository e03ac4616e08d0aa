package io.farheap.bench.figures;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.farheap.memory.Plurals;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The result of one run of a figure, as it is stored: {@code name}, {@code command}, {@code date}, {@code commit},
 * {@code dirty}, {@code machine}, {@code late_pct}, {@code seconds}, {@code plots} and {@code report}, which is the
 * benchmark's own JSON. Later runs and commits add {@code failed} and {@code outdated}. One thread at a time.
 */
final class FigureFile {

    /** From the root of the checkout. */
    static final Path DIRECTORY = Path.of("docs/figures/json");

    private static final Gson GSON = new GsonBuilder()
            .serializeNulls()
            .setPrettyPrinting()
            .disableHtmlEscaping()
            .create();
    private static final Pattern HASH = Pattern.compile("[0-9a-f]{40}");
    private static final List<String> FACTS = List.of("processor", "kernel", "jdk");
    private static final String FAILED = "failed";
    private static final String OUTDATED = "outdated";

    private final String name;
    private final JsonObject all;
    private final FigureFields fields;

    private FigureFile(String name, JsonObject all) {
        this.name = name;
        this.all = all;
        fields = new FigureFields(place(name).toString(), all);
    }

    /** The file of a figure, from the root of the checkout. */
    static Path place(String figure) {
        return DIRECTORY.resolve(figure + ".json");
    }

    /**
     * A new result.
     *
     * @param started when the run began
     * @param ended when it ended
     * @param machine with its load before and after the run
     * @param plots the file names of the plots that the run wrote
     * @param report the benchmark's JSON
     */
    static FigureFile of(
            FigureSpec figure,
            boolean quickly,
            Instant started,
            Instant ended,
            String commit,
            boolean dirty,
            JsonObject machine,
            List<String> plots,
            JsonObject report) {
        JsonObject all = new JsonObject();
        all.addProperty("name", figure.name());
        all.addProperty("command", figure.typed(quickly));
        all.addProperty("date", started.truncatedTo(ChronoUnit.SECONDS).toString());
        all.addProperty("commit", commit);
        all.addProperty("dirty", dirty);
        all.add("machine", machine);
        all.add("late_pct", JsonNull.INSTANCE);
        all.addProperty("seconds", started.until(ended, ChronoUnit.SECONDS));
        JsonArray published = new JsonArray();
        plots.forEach(published::add);
        all.add("plots", published);
        all.add("report", report);
        FigureFile file = new FigureFile(figure.name(), all);
        OptionalDouble late = file.rows().stream()
                .mapToDouble(InvalidRows::latePercent)
                .filter(percent -> !Double.isNaN(percent))
                .max();
        if (late.isPresent()) {
            all.addProperty("late_pct", late.getAsDouble());
        }
        return file;
    }

    /**
     * Reads the stored result of a figure; null if it was never measured.
     *
     * @throws IllegalArgumentException if the file is not a JSON object
     */
    static @Nullable FigureFile read(Path root, String figure) throws IOException {
        Path place = place(figure);
        if (!Files.exists(root.resolve(place))) {
            return null;
        }
        if (!(FigureFields.parse(root.resolve(place), place.toString()) instanceof JsonObject all)) {
            throw new IllegalArgumentException(place + ": it must be an object");
        }
        return new FigureFile(figure, all);
    }

    /** Writes the file into a directory, which is created, in the place of an earlier one. */
    void write(Path directory) throws IOException {
        Files.createDirectories(directory);
        Path half = directory.resolve(name + ".json.new");
        Files.writeString(half, GSON.toJson(all) + "\n");
        Files.move(half, directory.resolve(name + ".json"), StandardCopyOption.REPLACE_EXISTING);
    }

    String command() {
        return fields.text("command");
    }

    /** The UTC date. */
    LocalDate date() {
        String text = fields.text("date");
        try {
            return Instant.parse(text).atZone(ZoneOffset.UTC).toLocalDate();
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(
                    place(name) + ": its date " + text + " must be a UTC time such as 2026-11-29T23:13:25Z", e);
        }
    }

    String commit() {
        String commit = fields.text("commit");
        if (!HASH.matcher(commit).matches()) {
            throw new IllegalArgumentException(
                    place(name) + ": its commit " + commit + " must be a hash of 40 hexadecimal digits");
        }
        return commit;
    }

    /** Whether sources differed from the commit. */
    boolean dirty() {
        return fields.flag("dirty");
    }

    /** The processor and its cores, as {@code AMD EPYC, 2 cores}. */
    String machine() {
        JsonObject machine = fields.object("machine");
        FigureFields facts = new FigureFields(place(name) + ", machine", machine);
        FACTS.forEach(facts::text);
        if (!(machine.get("cores") instanceof JsonPrimitive cores && cores.isNumber())) {
            throw new IllegalArgumentException(place(name) + ", machine: its field cores must be a number");
        }
        return facts.text("processor") + ", " + Plurals.of(cores.getAsInt(), "core");
    }

    /** The most late operations of any row, in percent; NaN if no model was on. */
    double latePercent() {
        return InvalidRows.latePercent(all);
    }

    List<String> plots() {
        return fields.texts("plots");
    }

    /** The rows of the benchmark's report. */
    List<JsonObject> rows() {
        return new FigureFields(place(name) + ", report", fields.object("report")).objects("rows");
    }

    /** A field of the report beside its rows; null if there is none. */
    @Nullable
    JsonElement reported(String field) {
        return fields.object("report").get(field);
    }

    /** Marks it, since a later run failed: it stays the published result. */
    void markFailed(Instant when, String reason) {
        JsonObject failed = new JsonObject();
        failed.addProperty("date", when.atZone(ZoneOffset.UTC).toLocalDate().toString());
        failed.addProperty("reason", reason);
        all.add(FAILED, failed);
    }

    /** The date of the failed run after this one; null if none failed. */
    @Nullable
    String failedOn() {
        return all.get(FAILED) instanceof JsonObject failed
                ? new FigureFields(place(name) + ", " + FAILED, failed).text("date")
                : null;
    }

    /**
     * Marks it, since a later commit changed the code that it measures.
     *
     * @return whether it was marked with an earlier commit, or not at all
     */
    boolean markOutdated(GitTree.Commit commit) {
        JsonObject outdated = new JsonObject();
        outdated.addProperty("commit", commit.hash());
        outdated.addProperty("date", commit.date());
        boolean changed = !outdated.equals(all.get(OUTDATED));
        all.add(OUTDATED, outdated);
        return changed;
    }

    /** The latest commit that changed the code that it measures; null if none was seen. */
    GitTree.@Nullable Commit outdatedBy() {
        if (!(all.get(OUTDATED) instanceof JsonObject outdated)) {
            return null;
        }
        FigureFields commit = new FigureFields(place(name) + ", " + OUTDATED, outdated);
        return new GitTree.Commit(commit.text("commit"), commit.text("date"));
    }

    /**
     * What the file lacks, or has and must not have; a sentence each.
     *
     * @param command the command line that the list has now
     */
    List<String> problems(String command) {
        List<String> problems = new ArrayList<>();
        for (Runnable check : List.<Runnable>of(
                () -> checkCommand(command),
                this::date,
                this::commit,
                this::dirty,
                this::machine,
                this::plots,
                this::checkRows)) {
            try {
                check.run();
            } catch (IllegalArgumentException e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }
        return problems;
    }

    private void checkCommand(String command) {
        if (!command().equals(command)) {
            throw new IllegalArgumentException(place(name) + ": it was measured by '" + command() + "', and "
                    + FigureList.FILE + " has '" + command + "'; run ./farheap figures " + name
                    + ", which measures it again");
        }
    }

    private void checkRows() {
        int number = 0;
        for (JsonObject row : rows()) {
            number++;
            List<String> ratios = InvalidRows.ratios(row);
            if (!ratios.isEmpty()) {
                throw new IllegalArgumentException(place(name) + ": row " + number
                        + " is invalid, and must not have a ratio, but has " + String.join(", ", ratios));
            }
        }
    }
}
