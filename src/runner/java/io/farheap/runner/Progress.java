package io.farheap.runner;

import java.util.List;
import java.util.Locale;

/** Prints each item as it ends, its failures at once, and adds what it took to a tally and the times. */
final class Progress {

    private final int items;
    private final Times times;
    private int ended;

    Progress(int items, Times times) {
        this.items = items;
        this.times = times;
    }

    void ended(Item item, Ending ending, Outcome outcome, Tally tally) {
        ended++;
        if (outcome.equals(Outcome.NOTHING) && !ending.trouble().isEmpty()) {
            System.out.printf("[%d/%d] %s: %s%n", ended, items, item.name(), ending.trouble());
            return;
        }
        tally.add(item.suite(), outcome, ending);
        int passed = 0;
        int failed = 0;
        int skipped = 0;
        for (Result result : outcome.results()) {
            passed += result.passed();
            failed += result.failed();
            skipped += result.skipped();
            if (result.seconds() > 0) {
                times.took(item.suite(), result.name(), result.seconds(), result.cpuSeconds());
            }
        }
        times.write();
        System.out.printf(
                Locale.ROOT,
                "[%d/%d] %s: %d passed%s%s in %.0f s (%.0f s of processors)%s%n",
                ended,
                items,
                item.name(),
                passed,
                failed > 0 ? ", " + failed + " FAILED" : "",
                skipped > 0 ? ", " + skipped + " skipped" : "",
                ending.seconds(),
                ending.cpuSeconds(),
                names(outcome.results()));
        for (Result result : outcome.results()) {
            if (result.failed() > 0) {
                System.out.println("FAILED " + item.suite() + ": " + result.name());
                System.out.println(result.failure().indent(4));
            }
        }
    }

    private static String names(List<Result> results) {
        String names = String.join(" ", results.stream().map(Result::shortName).toList());
        if (names.isEmpty()) {
            return "";
        }
        return ": " + (names.length() > 160 ? names.substring(0, 160) + "..." : names);
    }
}
