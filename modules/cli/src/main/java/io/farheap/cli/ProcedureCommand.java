package io.farheap.cli;

import io.farheap.command.Subcommand;
import picocli.CommandLine.Command;

/** {@code farheap procedure}: stored procedures. */
@Command(
        name = "procedure",
        description = "Look at stored procedures.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        subcommands = ProcedureCheckCommand.class)
public final class ProcedureCommand implements Subcommand {}
