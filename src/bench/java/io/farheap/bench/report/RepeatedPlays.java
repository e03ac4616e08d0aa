package io.farheap.bench.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rows of something random that was played several times, merged: of each figure the median of the plays with its
 * quartiles, and how many plays there were. Rows of two plays are the same one if they have the same fields but for the
 * figures; of rows that differ in nothing else, the first of a play belongs to the first of another. Rows of a moment
 * are not merged: what happens once, such as a dip while memory is moved, does so at another moment of each play, and a
 * median would hide it. One thread.
 */
public final class RepeatedPlays {

    private final Set<String> figures;
    private final Set<String> longest;
    private final String moment;
    private int played;
    /** By what identifies a row, the rows of the plays. */
    private final Map<List<Object>, List<JsonObject>> rows = new LinkedHashMap<>();

    /**
     * Begins with no play.
     *
     * @param figures the names of fields of which a row has the median, {@code NAME_p25} and {@code NAME_p75}
     * @param longest those of fields of which a row has the most of all plays, and {@code NAME_median}
     * @param moment the name of the field that only rows of a moment have, such as windows of a load: these are of one
     *     play, with its number as {@code play}
     */
    public RepeatedPlays(Set<String> figures, Set<String> longest, String moment) {
        this.figures = figures;
        this.longest = longest;
        this.moment = moment;
    }

    /** Adds the rows of one play. */
    public void add(List<JsonObject> play) {
        Map<JsonObject, Integer> seen = new HashMap<>();
        played++;
        for (JsonObject row : play) {
            if (row.has(moment)) {
                JsonObject numbered = row.deepCopy();
                numbered.addProperty("play", played);
                rows.put(List.of(played, rows.size()), List.of(numbered));
                continue;
            }
            JsonObject identity = row.deepCopy();
            figures.forEach(identity::remove);
            longest.forEach(identity::remove);
            int number = seen.merge(identity, 1, Integer::sum);
            rows.computeIfAbsent(List.of(identity, number), _ -> new ArrayList<>())
                    .add(row);
        }
    }

    /** Puts the merged rows, in the order of the first play. */
    public void put(BenchReport report) {
        rows.values().forEach(ofPlays -> put(report.row(), ofPlays));
    }

    private void put(BenchReport.Row row, List<JsonObject> plays) {
        if (plays.getFirst().has(moment)) {
            row.putAll(plays.getFirst());
            return;
        }
        Map<String, Samples> spreads = new LinkedHashMap<>();
        for (Map.Entry<String, JsonElement> field : plays.getFirst().entrySet()) {
            String name = field.getKey();
            if (figures.contains(name)) {
                Samples samples = samples(plays, name);
                spreads.put(name, samples);
                row.put(name, samples.median());
            } else if (longest.contains(name)) {
                Samples samples = samples(plays, name);
                row.put(name, samples.most()).put(name + "_median", samples.median());
            } else {
                JsonObject same = new JsonObject();
                same.add(name, field.getValue());
                row.putAll(same);
            }
        }
        spreads.forEach((name, samples) ->
                row.put(name + "_p25", samples.lowerQuartile()).put(name + "_p75", samples.upperQuartile()));
        row.put("plays", (long) plays.size());
    }

    /** Returns the numbers of a field; null is none. */
    private static Samples samples(List<JsonObject> plays, String name) {
        Samples samples = new Samples();
        for (JsonObject play : plays) {
            if (play.get(name) instanceof JsonPrimitive value) {
                samples.add(value.getAsDouble());
            }
        }
        return samples;
    }
}
