package io.farheap.cli;

import io.farheap.command.Subcommand;
import picocli.CommandLine.Command;

/** {@code farheap kv}: maps in far memory. */
@Command(
        name = "kv",
        description = "Create, read and change maps of objects in far memory.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        subcommands = {
            KvCreateCommand.class,
            KvGetCommand.class,
            KvSetCommand.class,
            KvDeleteCommand.class,
            KvStatsCommand.class,
            KvAuditCommand.class,
            KvWeightsCommand.class,
            KvGrowCommand.class,
            KvDrainCommand.class,
            KvDropCommand.class
        })
public final class KvCommand implements Subcommand {}
