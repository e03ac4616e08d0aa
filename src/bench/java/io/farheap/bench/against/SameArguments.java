package io.farheap.bench.against;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** What a user typed, for a run of either build. */
final class SameArguments {

    /** Of the comparison, and not of its runs. */
    private static final Set<String> OWN = Set.of("--against", "--rounds", "--json", "--report");

    private SameArguments() {}

    /** The command and its options as typed: what is left out is each build's default. */
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
