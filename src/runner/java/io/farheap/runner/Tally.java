package io.farheap.runner;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The results of a run, or of a piece. */
final class Tally {

    /** One result of a suite. */
    record Entry(Suite suite, Result result) {}

    private final List<Entry> entries = new ArrayList<>();
    private final List<String> notRun = new ArrayList<>();
    private final Map<Suite, Double> cpuSeconds = new EnumMap<>(Suite.class);
    private final Map<Suite, Double> seconds = new EnumMap<>(Suite.class);

    /** @param ending tells what the whole item took, with its JVM's start */
    void add(Suite suite, Outcome outcome, Ending ending) {
        outcome.results().forEach(result -> entries.add(new Entry(suite, result)));
        outcome.notRun().forEach(line -> notRun.add(suite + ": " + line));
        cpuSeconds.merge(suite, ending.cpuSeconds(), Double::sum);
        seconds.merge(suite, ending.seconds(), Double::sum);
    }

    void add(Suite suite, Result result) {
        entries.add(new Entry(suite, result));
    }

    void add(Tally other) {
        entries.addAll(other.entries);
        notRun.addAll(other.notRun);
        other.cpuSeconds.forEach((suite, more) -> cpuSeconds.merge(suite, more, Double::sum));
        other.seconds.forEach((suite, more) -> seconds.merge(suite, more, Double::sum));
    }

    int passed() {
        return entries.stream().mapToInt(entry -> entry.result.passed()).sum();
    }

    int failed() {
        return entries.stream().mapToInt(entry -> entry.result.failed()).sum();
    }

    int skipped() {
        return entries.stream().mapToInt(entry -> entry.result.skipped()).sum();
    }

    int tests(Suite suite) {
        return entries.stream()
                .filter(entry -> entry.suite == suite)
                .mapToInt(entry -> entry.result.passed() + entry.result.failed() + entry.result.skipped())
                .sum();
    }

    double cpuSeconds(Suite suite) {
        return cpuSeconds.getOrDefault(suite, 0.0);
    }

    /** By the wall, of items that ran beside others: so the sum is longer than the run. */
    double seconds(Suite suite) {
        return seconds.getOrDefault(suite, 0.0);
    }

    double cpuSeconds() {
        return cpuSeconds.values().stream().mapToDouble(Double::doubleValue).sum();
    }

    List<Entry> failures() {
        return entries.stream().filter(entry -> entry.result.failed() > 0).toList();
    }

    List<String> notRun() {
        return notRun;
    }

    List<Entry> entries() {
        return entries;
    }

    /** Those that took longest by the wall. */
    List<Entry> slowest(int count) {
        return entries.stream()
                .sorted(Comparator.comparingDouble((Entry entry) -> entry.result.seconds())
                        .reversed())
                .limit(count)
                .toList();
    }

    Set<String> names(Suite suite) {
        Set<String> names = new HashSet<>();
        entries.stream().filter(entry -> entry.suite == suite).forEach(entry -> names.add(entry.result.name()));
        return names;
    }
}
