package io.farheap.kv;

import io.farheap.kv.contract.MapCounts;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/** Totals of a map's sessions in this process, every second of a recording. It contains no keys. */
@Name("io.farheap.MapStatistics")
@Label("Map Statistics")
@Description("Counts of the sessions of a map in this process since it was opened")
@Category("Farheap")
@Period("1 s")
@Enabled
@StackTrace(false)
final class MapStatisticsEvent extends Event {

    @Label("Map")
    String map = "";

    @Label("Hits")
    long hits;

    @Label("Misses")
    long misses;

    @Label("Stored")
    long stored;

    @Label("Deleted")
    long deleted;

    @Label("Evicted")
    long evicted;

    @Label("Regrets")
    @Description("Misses of objects that were evicted not long before, once for each expert that had named them")
    long regrets;

    @Label("Compare-and-Swaps Lost")
    long swapsLost;

    @Label("Pointer Hits")
    @Description("Gets that found their object by a pointer, with one READ")
    long pointerHits;

    @Label("Stale Pointers")
    @Description("Gets whose pointer led to no current object")
    long stalePointers;

    @Label("Read Again")
    long readAgain;

    @Label("Unlinked")
    @Description("Slots that were emptied because the block that they named could not be read")
    long unlinked;

    @Label("Moved")
    @Description("Objects moved to other blocks, so that a segment could change its class or a server leave")
    long moved;

    @Label("Without Room")
    long noRoom;

    @Label("READs")
    long reads;

    @Label("WRITEs")
    long writes;

    @Label("Compare-and-Swaps")
    long swaps;

    @Label("Fetch-and-Adds")
    long adds;

    static void emit(String map, MapCounts counts) {
        MapStatisticsEvent event = new MapStatisticsEvent();
        event.map = map;
        event.hits = counts.hits();
        event.misses = counts.misses();
        event.stored = counts.stored();
        event.deleted = counts.deleted();
        event.evicted = counts.evicted();
        event.regrets =
                counts.regrets().values().stream().mapToLong(Long::longValue).sum();
        event.swapsLost = counts.swapsLost();
        event.pointerHits = counts.pointerHits();
        event.stalePointers = counts.stalePointers();
        event.readAgain = counts.readAgain();
        event.unlinked = counts.unlinked();
        event.moved = counts.moved();
        event.noRoom = counts.noRoom();
        event.reads = counts.posted().reads();
        event.writes = counts.posted().writes();
        event.swaps = counts.posted().swaps();
        event.adds = counts.posted().adds();
        event.commit();
    }
}
