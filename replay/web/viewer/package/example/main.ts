import 'teewire-player';

const player = document.querySelector('teewire-player')!;
const line = document.querySelector('output')!;

const tell = () => {
  line.value = `${player.currentTime.toFixed(1)} of ${player.duration.toFixed(1)} seconds, following ${player.followed ?? 'nobody'}`;
};
for (const type of ['loadeddata', 'timeupdate', 'seeked', 'follow'] as const) player.addEventListener(type, tell);
player.addEventListener('share', ({ detail }) => {
  line.value = `follow="${detail.follow ?? ''}" t="${detail.t}"`;
});
document.querySelector('button')!.addEventListener('click', () => {
  player.currentTime = player.duration / 2;
});
