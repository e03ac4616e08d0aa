package io.farheap.bench.against;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The arguments that a user typed, for a run of either build. */
final class SameArguments {

    /** Options of the comparison, which its runs do not get. */
    private static final Set<String> OWN = Set.of("--against", "--rounds", "--json", "--report");

    private SameArguments() {}

    /** Returns the command and its options as typed: options that were omitted keep each build's own default. */
    static List<String> of(CommandSpec command) {
        List<String> arguments =
                new ArrayList<>(Arrays.asList(command.qualifiedName(" ").split(" ")));
        arguments.removeFirst();
        command.commandLine().getParseResult().matchedOptions().stream()
                .filter(option -> !OWN.contains(option.longestName()))
                .flatMap(SameArguments::typed)
                .forEach(arguments::add);
        return arguments;
    }

    private static Stream<String> typed(OptionSpec option) {
        return option.originalStringValues().stream().map(value -> option.longestName() + "=" + value);
    }
}
