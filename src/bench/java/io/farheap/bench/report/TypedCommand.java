package io.farheap.bench.report;

import io.farheap.measure.SoftverbsModel;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A command line as its user typed it, so that it can be repeated. */
final class TypedCommand {

    private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");
    private static final Pattern TYPED = Pattern.compile("-D.*|-X.*");

    private TypedCommand() {}

    /**
     * @param softverbs the environment variable SOFTVERBS, or null
     * @param jvmOptions all of the JVM's options; it selects those that users pass through the launcher
     */
    static String of(@Nullable String softverbs, List<String> jvmOptions, List<String> arguments) {
        List<String> words = new ArrayList<>();
        if (softverbs != null && !softverbs.isEmpty()) {
            words.add(SoftverbsModel.VARIABLE + "=" + quote(softverbs));
        }
        words.add("./farheap");
        jvmOptions.stream()
                .filter(TYPED.asMatchPredicate())
                .map(TypedCommand::quote)
                .forEach(words::add);
        arguments.stream().map(TypedCommand::quote).forEach(words::add);
        return words.stream().collect(Collectors.joining(" "));
    }

    private static String quote(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
