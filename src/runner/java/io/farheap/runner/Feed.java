package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a JVM of tests has written so far, line by line, each with fields between tabs, in which a backslash stands
 * before an n for a line's end, a t for a tab, and a backslash:
 *
 * <pre>
 * begin CLASS
 * test  CLASS NAME passed|failed|skipped TEXT      TEXT: the stack of a failure, the reason of what was not run
 * end   CLASS WALL_MS CPU_MS
 * finished
 * </pre>
 *
 * A last line without an end is one that its JVM did not come to write.
 */
final class Feed {

    /** Of one class. */
    static final class OfClass {

        private int passed;
        private int failed;
        private int skipped;
        private boolean ended;
        private double seconds;
        private double cpuSeconds;
        private final StringBuilder failures = new StringBuilder();

        boolean ended() {
            return ended;
        }

        int tests() {
            return passed + failed + skipped;
        }

        Result result(String name) {
            return new Result(name, passed, failed, skipped, seconds, cpuSeconds, failures.toString());
        }
    }

    private final Map<String, OfClass> classes = new LinkedHashMap<>();
    private final List<String> notRun = new ArrayList<>();
    private boolean finished;

    static Feed read(Path file) {
        Feed feed = new Feed();
        try {
            String text = Files.readString(file);
            text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(feed::take);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return feed;
    }

    private void take(String line) {
        String[] fields = line.split("\t", -1);
        for (int i = 0; i < fields.length; i++) {
            fields[i] = plain(fields[i]);
        }
        switch (fields[0]) {
            case "begin" -> of(fields[1]).ended = false;
            case "test" -> takeTest(of(fields[1]), fields);
            case "end" -> {
                OfClass one = of(fields[1]);
                one.ended = true;
                one.seconds = Long.parseLong(fields[2]) / 1e3;
                one.cpuSeconds = Long.parseLong(fields[3]) / 1e3;
            }
            case "finished" -> finished = true;
            default -> throw new IllegalStateException("an unknown line: " + line);
        }
    }

    private void takeTest(OfClass of, String[] fields) {
        String name = Result.failure(fields[1], "").shortName() + "." + fields[2];
        switch (fields[3]) {
            case "passed" -> of.passed++;
            case "failed" -> {
                of.failed++;
                of.failures.append(name).append(": ").append(fields[4]).append('\n');
            }
            case "skipped" -> {
                of.skipped++;
                notRun.add(name + ": " + fields[4]);
            }
            default -> throw new IllegalStateException("an unknown verdict: " + fields[3]);
        }
    }

    private OfClass of(String name) {
        return classes.computeIfAbsent(name, _ -> new OfClass());
    }

    private static String plain(String field) {
        if (field.indexOf('\\') < 0) {
            return field;
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < field.length(); i++) {
            char at = field.charAt(i);
            if (at == '\\' && i + 1 < field.length()) {
                char next = field.charAt(++i);
                text.append(next == 'n' ? '\n' : next == 't' ? '\t' : next);
            } else {
                text.append(at);
            }
        }
        return text.toString();
    }

    Map<String, OfClass> classes() {
        return classes;
    }

    List<String> notRun() {
        return notRun;
    }

    /** Whether the JVM came to the end of its plan. */
    boolean finished() {
        return finished;
    }
}
