package io.farheap.manager.service.commands;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A menu's file, which an operator may change while a manager runs. One thread. */
public final class MenuWatch {

    /** Null: there is none. */
    private final @Nullable Path file;

    private final Consumer<String> menu;
    private String read = "";
    private String said = "";

    private MenuWatch(@Nullable Path file, Consumer<String> menu) {
        this.file = file;
        this.menu = menu;
    }

    /**
     * Reads it for the first time.
     *
     * @param file null: there is none, and never will be
     * @param menu takes the text, and throws {@link IllegalArgumentException} where it makes no sense
     * @throws IllegalArgumentException it makes no sense, or cannot be read
     */
    public static MenuWatch of(@Nullable Path file, Consumer<String> menu) {
        MenuWatch watch = new MenuWatch(file, menu);
        watch.look(wrong -> {
            throw new IllegalArgumentException(wrong);
        });
        return watch;
    }

    /**
     * Takes it where it has changed; one that makes no sense changes nothing.
     *
     * @param complain told what is wrong, once
     */
    public void look(Consumer<String> complain) {
        if (file == null) {
            return;
        }
        String wrong = "";
        try {
            String now = Files.readString(file);
            if (!now.equals(read)) {
                menu.accept(now);
                read = now;
            }
        } catch (IOException | RuntimeException e) {
            wrong = "menu " + file + " is not taken: " + e.getMessage();
        }
        if (!wrong.isEmpty() && !wrong.equals(said)) {
            complain.accept(wrong);
        }
        said = wrong;
    }
}
