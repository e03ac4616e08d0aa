package io.farheap.bench.kv;

import io.farheap.bench.kv.ReferencePoint.PolicyHits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hit ratios that others have measured on the same traces, such as libCacheSim's and Caffeine's: a file of lines of
 * cells between tabs. The first line names the columns: {@code trace}, {@code size} (objects), others that are not read
 * ({@code frac}), and a policy for each column with a colon in its name, such as {@code lcs:arc}. Ratios are in per
 * cent; a cell without a figure is empty or {@code -}.
 */
final class PolicyReference {

    private static final String SEPARATOR = "\t";
    private static final String TRACE = "trace";
    private static final String SIZE = "size";
    private static final String POLICY = ":";
    private static final double ALL_PERCENT = 100;

    /** By trace, then by size, in the order of the file. */
    private final Map<String, Map<Long, ReferencePoint>> points = new LinkedHashMap<>();

    private PolicyReference() {}

    /** @throws IllegalArgumentException if the file cannot be read, or is no such file; it names the line */
    static PolicyReference read(Path file) {
        try {
            return of(file.toString(), Files.readAllLines(file));
        } catch (IOException e) {
            throw new IllegalArgumentException("--reference " + file + ": cannot read this file: " + e, e);
        }
    }

    /** @param name of the file, for messages */
    static PolicyReference of(String name, List<String> lines) {
        PolicyReference reference = new PolicyReference();
        List<String> columns = lines.isEmpty() ? List.of() : cells(lines.getFirst());
        if (!columns.contains(TRACE)
                || !columns.contains(SIZE)
                || columns.stream().noneMatch(column -> column.contains(POLICY))) {
            throw new IllegalArgumentException("--reference " + name
                    + ": the first line names no columns trace and size, and no policy such as lcs:arc");
        }
        for (int line = 1; line < lines.size(); line++) {
            if (lines.get(line).isBlank()) {
                continue;
            }
            try {
                reference.add(columns, cells(lines.get(line)));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "--reference " + name + ", line " + (line + 1) + ": " + e.getMessage(), e);
            }
        }
        return reference;
    }

    private static List<String> cells(String line) {
        return Arrays.stream(line.split(SEPARATOR, -1)).map(String::strip).toList();
    }

    private void add(List<String> columns, List<String> cells) {
        if (cells.size() != columns.size()) {
            throw new IllegalArgumentException(
                    "it has " + cells.size() + " cells, and the first line " + columns.size());
        }
        String trace = cells.get(columns.indexOf(TRACE));
        long size = size(cells.get(columns.indexOf(SIZE)));
        Map<String, Double> hits = new LinkedHashMap<>();
        for (int i = 0; i < cells.size(); i++) {
            String cell = cells.get(i);
            if (columns.get(i).contains(POLICY) && !cell.isEmpty() && !cell.equals("-")) {
                hits.put(columns.get(i), percent(cell));
            }
        }
        ReferencePoint point = new ReferencePoint(trace, size, Collections.unmodifiableMap(hits));
        if (points.computeIfAbsent(trace, added -> new LinkedHashMap<>()).put(size, point) != null) {
            throw new IllegalArgumentException("a second line for " + trace + " with " + size + " objects");
        }
    }

    private static long size(String cell) {
        if (!cell.matches("[1-9][0-9]{0,17}")) {
            throw new IllegalArgumentException("\"" + cell + "\" is no size; it is a whole number from 1");
        }
        return Long.parseLong(cell);
    }

    private static double percent(String cell) {
        double percent = cell.matches("[0-9]+(\\.[0-9]+)?") ? Double.parseDouble(cell) : Double.NaN;
        if (!(percent >= 0 && percent <= ALL_PERCENT)) {
            throw new IllegalArgumentException("\"" + cell + "\" is no hit ratio; it is 0 to 100 per cent");
        }
        return percent;
    }

    /** Returns the hit ratios on a trace at a size; null if the file has none. */
    @Nullable
    ReferencePoint at(String trace, long objects) {
        Map<Long, ReferencePoint> sizes = points.get(trace);
        return sizes == null ? null : sizes.get(objects);
    }

    /** Returns the policy's name and its hits, as a table shows them; empty if there is no such policy. */
    static String text(@Nullable PolicyHits hits) {
        return hits == null ? "" : String.format("%s %.2f", hits.policy(), hits.percent());
    }
}
