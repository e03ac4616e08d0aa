package io.farheap.manager.service.requests;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.CachePlacement;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.memory.ByteSize;
import java.util.List;
import java.util.Locale;

/** Builds the message that names the caches that could be had instead of one for which there is no room. */
final class NoRoomMessage {

    private NoRoomMessage() {}

    static String of(Allocator allocator, Need need, NoRoomException refused) {
        StringBuilder text = new StringBuilder();
        String without = withoutObjective(allocator, need, refused.most());
        if (refused.most() == 0 && without.isEmpty()) {
            return "no server has a free region; start one with --manager";
        }
        text.append("there is no room for ").append(ByteSize.text(need.capacity()));
        if (need.candidates().equals(List.of(AllocationCandidate.ANY))) {
            text.append(", but for one cache of ").append(ByteSize.text(refused.most()));
        } else {
            text.append(" that meets the objective, but for ").append(ByteSize.text(refused.most()));
        }
        return text.append(without)
                .append("; ask for less, or start servers with --manager")
                .toString();
    }

    /** The same cache at any distance, and for an hour on servers that may leave. */
    private static String withoutObjective(Allocator allocator, Need need, long refused) {
        Need loose = need.with(AllocationCandidate.ANY).within(1);
        try {
            CachePlacement placement = allocator.place(loose);
            return String.format(
                    Locale.ROOT,
                    ", or for all of them without an objective, on servers that may leave, for %.4f an hour",
                    placement.cost());
        } catch (NoRoomException e) {
            return e.most() <= refused
                    ? ""
                    : ", or for " + ByteSize.text(e.most()) + " without an objective, on servers that may leave";
        }
    }
}
