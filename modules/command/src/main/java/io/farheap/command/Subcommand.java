package io.farheap.command;

/**
 * A command of {@code farheap}: an object of a class that picocli's {@code @Command} describes and that has a public
 * constructor without parameters. The command line finds all of those on its class path
 * ({@link java.util.ServiceLoader}); an artifact that adds commands names them in
 * {@code META-INF/services/io.farheap.command.Subcommand}.
 */
public interface Subcommand {}
