"""A hundred prompts about nothing that the tests store: questions, requests, small talk."""

from __future__ import annotations

UNRELATED: tuple[str, ...] = tuple(
    """\
write a haiku about autumn leaves
how do I bake sourdough bread at high altitude?
what is the capital of Mongolia?
translate "good morning, how are you" into Portuguese
recommend a science fiction novel from the seventies
explain photosynthesis to a ten year old
convert 45 miles per hour into kilometres per hour
who painted the Arnolfini portrait?
plan a three day trip to Lisbon in March
what are the symptoms of iron deficiency?
write a limerick about a lazy cat
how many moons does Jupiter have?
give me a vegetarian lasagne recipe
what's the difference between a violin and a viola?
help me word a birthday card for my grandmother
how do I remove red wine stains from a wool carpet?
summarise the plot of Moby Dick in two sentences
what causes the northern lights?
suggest five names for a golden retriever puppy
how tall is Mount Kilimanjaro?
write a python script that downloads weather data and plots rainfall
create a React component for a star rating
how do I centre a div with flexbox?
write a SQL query that returns the second highest salary
implement quicksort in Haskell
explain the difference between TCP and UDP
build a landing page for a coffee shop with Tailwind
write a Dockerfile for a Django application with Postgres
how do I train a convolutional network on CIFAR-10?
write a regular expression for validating e-mail addresses
set up a Kubernetes ingress with TLS certificates
implement an LRU cache in Java
why does my Arduino temperature sensor return minus 127?
write a bash one-liner that renames all jpeg files to their date
how do I parse XML in Ruby with Nokogiri?
make a Unity character controller that can double jump
compare Vue and Svelte for a small dashboard
write a Terraform module for an S3 bucket with versioning
what is the time complexity of Dijkstra with a Fibonacci heap?
add dark mode to a WordPress theme
how do I merge two pandas dataframes on a nearest timestamp?
write a Solidity contract for a simple auction
explain monads with an example in Scala
generate a sitemap for a Gatsby blog
optimise this GLSL shader for mobile graphics cards
how does the borrow checker treat closures?
write unit tests for a shopping cart in Jest
how do I mount an NFS share at boot on Ubuntu?
design a database schema for a library lending system
write an Excel formula that counts weekdays between two dates
what should I cook with leftover rice and spinach?
draft a polite letter of complaint to my landlord about the heating
how long should I boil an ostrich egg?
what is the best way to learn Italian verbs?
give me a stretching routine for runners
explain compound interest with a small example
which trees keep their leaves in winter?
what does the idiom "to bell the cat" mean?
how do vaccines work?
write a short bedtime story about a dragon who is afraid of fire
who won the football world cup in 1974?
what's a good gift for a retired geologist?
how do I prune roses in February?
explain the offside rule
list the ingredients of a classic ramen broth
how do I change a bicycle inner tube?
what is the boiling point of ethanol?
describe the architecture of Gothic cathedrals
how does a mortgage with a variable rate work?
give me ten trivia questions about the ocean
thanks, that's all for today
hello there
can you help me with something?
what do you think about that?
ok go on
tell me a joke about penguins
what day of the week was 3 June 1944?
is a tomato a fruit or a vegetable?
how far is the moon from the earth?
compose a melody in A minor for the flute
my sourdough starter smells like acetone, is that normal?
what is the plural of octopus?
calculate the area of a circle with radius seven
how do I knit a ribbed scarf?
who discovered penicillin?
what are the rules of backgammon?
explain the causes of the French revolution
suggest a playlist for a road trip through the desert
how do I get my toddler to sleep through the night?
what is the exchange rate between yen and euro used for?
write a product description for a bamboo toothbrush
how do I calibrate a telescope mount?
explain how a jet engine produces thrust
is it safe to eat raw cookie dough?
rewrite this sentence in a formal tone: gimme the report asap
how do I file taxes as a freelancer in Germany?
what wood is best for a cutting board?
name three famous chess openings
how do bees communicate where flowers are?
draw an ASCII picture of a sailing boat
""".strip().splitlines()
)
