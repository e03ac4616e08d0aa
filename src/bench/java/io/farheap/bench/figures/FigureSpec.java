package io.farheap.bench.figures;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * An entry of the list of figures.
 *
 * @param name of its JSON file, its templates and its markers
 * @param command the words after {@code ./farheap}, without {@code --json} and {@code --report}
 * @param quick the words of a run that takes some seconds, for {@code --quick}
 * @param environment variables that the command gets beside this process's
 * @param expected how long a run takes on a quiet machine of two cores
 * @param limit after which a run counts as hanging
 * @param plots the file names of the plots that are published; others that the command writes are dropped
 * @param pages into which it may be rendered, from the root of the checkout
 * @param packages whose code it measures, with the packages below them; an entry with a slash is a path from the root
 *     of the checkout; one that begins with {@code !} is left out of the others
 */
record FigureSpec(
        String name,
        List<String> command,
        List<String> quick,
        Map<String, String> environment,
        Duration expected,
        Duration limit,
        List<String> plots,
        List<String> pages,
        List<String> packages) {

    /** Of a quick run, or less if the figure's own limit is less. */
    private static final Duration QUICK_LIMIT = Duration.ofMinutes(3);

    /** The words after {@code ./farheap} of the whole run, or of the quick one. */
    List<String> words(boolean quickly) {
        return quickly ? quick : command;
    }

    /** The limit of the whole run, or of the quick one. */
    Duration limit(boolean quickly) {
        return quickly && limit.compareTo(QUICK_LIMIT) > 0 ? QUICK_LIMIT : limit;
    }

    /** The command line with which a user can repeat it. */
    String typed(boolean quickly) {
        List<String> all = new ArrayList<>();
        environment.forEach((variable, value) -> all.add(variable + "=" + value));
        all.add("./farheap");
        all.addAll(words(quickly));
        return String.join(" ", all);
    }
}
