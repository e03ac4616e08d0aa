package io.farheap.bench.report;

import io.farheap.measure.SoftverbsModel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A command line as its user typed it, so that it can be repeated. The files to which the run writes are no part of it:
 * they do not change a figure, and the names of temporary ones would be in the footers of plots.
 */
final class TypedCommand {

    private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");
    private static final Pattern TYPED = Pattern.compile("-D.*|-X.*");
    /** Options that the launcher adds, with paths of the checkout. */
    private static final Pattern LAUNCHERS = Pattern.compile("-XX:AOTCache=.*|-Xlog:aot.*|-Dfarheap\\.root=.*");

    private static final Set<String> FILES = Set.of("--json", "--report");

    private TypedCommand() {}

    /**
     * @param softverbs the environment variable SOFTVERBS, or null
     * @param jvmOptions all of the JVM's options; it selects those that users pass through the launcher
     * @param arguments the words after the launcher's name, of which {@code --json} and {@code --report} are left out
     */
    static String of(@Nullable String softverbs, List<String> jvmOptions, List<String> arguments) {
        List<String> words = new ArrayList<>();
        if (softverbs != null && !softverbs.isEmpty()) {
            words.add(SoftverbsModel.VARIABLE + "=" + quote(softverbs));
        }
        words.add("./farheap");
        jvmOptions.stream()
                .filter(TYPED.asMatchPredicate())
                .filter(LAUNCHERS.asMatchPredicate().negate())
                .map(TypedCommand::quote)
                .forEach(words::add);
        withoutFiles(arguments).stream().map(TypedCommand::quote).forEach(words::add);
        return words.stream().collect(Collectors.joining(" "));
    }

    /** Leaves out {@code --json FILE} and {@code --json=FILE}, and {@code --report} in both forms. */
    private static List<String> withoutFiles(List<String> arguments) {
        List<String> left = new ArrayList<>();
        for (Iterator<String> each = arguments.iterator(); each.hasNext(); ) {
            String word = each.next();
            if (FILES.contains(word)) {
                if (each.hasNext()) {
                    each.next();
                }
            } else if (FILES.stream().noneMatch(file -> word.startsWith(file + "="))) {
                left.add(word);
            }
        }
        return left;
    }

    private static String quote(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
